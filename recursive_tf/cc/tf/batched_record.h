#ifndef RECURSIVE_TF_CC_TF_BATCHED_RECORD_H_
#define RECURSIVE_TF_CC_TF_BATCHED_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// What one forward root call in the batched executor leaves for its gradient.
//
// Thread safety: it does not change after the call, but for TakeKept, which
// only the last one may call that reads it.
struct BatchedRecord {
  BatchedRecord() = default;
  ~BatchedRecord() {
    for (const TapedLaunch<RowBatch>& launch : tape.launches) {
      num_kept.Add(-static_cast<int64_t>(launch.kept.size()));
    }
  }
  BatchedRecord(const BatchedRecord&) = delete;
  BatchedRecord& operator=(const BatchedRecord&) = delete;

  // Returns what a launch kept, and forgets it.
  std::vector<RowBatch> TakeKept(size_t launch) {
    std::vector<RowBatch> kept;
    std::swap(kept, tape.launches[launch].kept);
    num_kept.Add(-static_cast<int64_t>(kept.size()));
    return kept;
  }

  // Where its gradient leaves a report.
  std::shared_ptr<LastRuns> runs;
  // As in BatchedSpec.
  uint64_t fingerprint = 0;
  bool is_kept = false;
  Tape<RowBatch> tape;
  // All outputs of the prologue.
  std::vector<tensorflow::Tensor> prologue;
  // By value, with rows in front.
  std::vector<Kind> values;
  // By value: whether one row may be that of several activations.
  std::vector<bool> are_shared;
  Returned returned;
  const Census::One census{Census::Kind::kRecords};
  const Census::Counter num_kept{Census::Kind::kKeptTensors};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_RECORD_H_
