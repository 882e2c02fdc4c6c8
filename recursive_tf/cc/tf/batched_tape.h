#ifndef RECURSIVE_TF_CC_TF_BATCHED_TAPE_H_
#define RECURSIVE_TF_CC_TF_BATCHED_TAPE_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Writes the tape of a run that is kept for its gradient.
class BatchedTape {
 public:
  // Both must outlive this.
  BatchedTape(const GradientPlan* plan, BatchedRecord* record)
      : plan_(*plan), record_(*record) {}

  // Adds the next value, of which one row may be that of several activations.
  void AddValue(const tensorflow::Tensor& rows, bool are_shared);

  // Returns whether a gradient may come to launches of a block. No others are
  // added.
  bool Takes(int32_t block) const { return !plan_[block].cotangents.empty(); }

  // Adds a launch, whose inputs' rows become the tape's.
  void AddLaunch(Launch* launch, const std::vector<RowBatch>& inputs,
                 const std::vector<tensorflow::Tensor>& outputs);

  // Returns how much launches keep.
  int64_t num_bytes() const { return num_bytes_; }

 private:
  const GradientPlan& plan_;
  BatchedRecord& record_;
  int64_t num_bytes_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_TAPE_H_
