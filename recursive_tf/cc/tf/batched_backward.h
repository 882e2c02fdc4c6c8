#ifndef RECURSIVE_TF_CC_TF_BATCHED_BACKWARD_H_
#define RECURSIVE_TF_CC_TF_BATCHED_BACKWARD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/gradient_rows.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"

namespace recursive_tf {

// How a batched program is differentiated: constant for a root kernel.
struct BatchedBackwardSpec {
  BatchedSpec program;
  // By block: where its backward and its deferred part are among `blocks`, or
  // -1.
  std::vector<int32_t> backward;
  std::vector<int32_t> deferred;
  // By block: where what its deferred part gives begins in `deferred_places`,
  // which says of each the place where it is gathered.
  std::vector<int32_t> first_deferred;
  std::vector<int32_t> deferred_places;
  // By place: whether it has rows, which follow each other, or is a sum. Two
  // that have rows are the values and the indices of slices.
  std::vector<bool> deferred_has_rows;
  // Its type, the shape of a row as far as that is known, and the output of the
  // prologue that it is a gradient of: for when there is none.
  std::vector<tensorflow::DataType> deferred_types;
  std::vector<tensorflow::PartialTensorShape> deferred_shapes;
  std::vector<int32_t> deferred_like;
};

// The gradient of one forward root call: replays its launches in reverse. A
// Backend of ReverseReplay.
class BatchedBackward : public GradientRows {
 public:
  // All of them must outlive this. If this `is_last`, nobody else reads the
  // tape of the record: then it gets empty, so that memory is free early.
  BatchedBackward(const BatchedBackwardSpec* spec, const Blocks* blocks,
                  const BatchedStep* step, BatchedRecord* record, bool is_last);

  // What failed, if RunBackward or RunDeferred returned false.
  const absl::Status& status() const { return status_; }
  // Sets `*gradients` to what the deferred parts gave, by place; of slices,
  // each row has one.
  absl::Status TakeDeferred(std::vector<tensorflow::Tensor>* gradients);

  // Leaves a report for `rtf.explain`, at the end of the replay.
  void Report();

  // --- For ReverseReplay

  bool RunBackward(const TapedLaunch<RowBatch>& launch,
                   std::vector<RowBatch> inputs,
                   std::vector<tensorflow::Tensor>* outputs);
  bool RunDeferred(int32_t block, std::vector<std::vector<RowBatch>> inputs);
  void Hold(int64_t num_bytes) { bytes_held_ = num_bytes; }
  std::vector<RowBatch> TakeKept(size_t launch);

 private:
  // Returns whether all parts of a block's gradient read rows where they stand.
  bool TakesAddresses(int32_t block) const;
  absl::Status TryBackward(const TapedLaunch<RowBatch>& launch,
                           std::vector<RowBatch> inputs,
                           std::vector<tensorflow::Tensor>* outputs);
  // Checks that `gradient` is one of rows that a launch took as one input.
  absl::Status CheckGradient(const JoinedRows& joined,
                             const tensorflow::Tensor& gradient) const;
  absl::Status TryDeferred(int32_t block,
                           std::vector<std::vector<RowBatch>> inputs);
  absl::Status JoinDeferred(std::vector<std::vector<RowBatch>> inputs,
                            std::vector<RowBatch>* joined);
  // Reports why a part of a block's gradient was not compiled.
  void SayWhy(int32_t block, const Block& part);
  // While a block that gave these ends.
  void CountBytes(const std::vector<tensorflow::Tensor>& given);
  // Takes what the deferred part of a block gave.
  absl::Status Gather(int32_t block, std::vector<tensorflow::Tensor> given);
  absl::Status NoGradient(size_t index, tensorflow::Tensor* gradient) const;
  absl::Status ShapeOfInvariant(int32_t output,
                                tensorflow::TensorShape* shape) const;
  bool Succeeds(int32_t block, const absl::Status& status);

  const Census::One census_{Census::Kind::kRuns};
  const BatchedBackwardSpec& spec_;
  const Blocks& blocks_;
  const BatchedStep& step_;
  const BatchedRecord& record_;
  // The same if nobody else reads its tape, or null.
  BatchedRecord* const own_record_;
  Invariants invariants_;
  // By block, of all launches.
  std::vector<int64_t> num_rows_;
  // By place: a sum, or rows.
  std::vector<std::vector<tensorflow::Tensor>> deferred_;
  // In `deferred_`; by whoever replays, and as copies of rows for a block.
  int64_t bytes_deferred_ = 0;
  int64_t bytes_held_ = 0;
  absl::Status status_;
  RunReport report_;
  Stopwatch watch_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_BACKWARD_H_
