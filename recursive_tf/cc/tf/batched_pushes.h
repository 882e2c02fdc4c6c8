#ifndef RECURSIVE_TF_CC_TF_BATCHED_PUSHES_H_
#define RECURSIVE_TF_CC_TF_BATCHED_PUSHES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/row_moves.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

// What the activations of a run push: each takes its row of a table at once, so
// that an error is this activation's. Rows are copied many at once, in Flush.
class BatchedPushes {
 public:
  // Both must outlive this. What is pushed is also added to `taped`, which has
  // an element for each table when the first is pushed; null if nothing is
  // kept.
  BatchedPushes(std::vector<std::unique_ptr<PushTable>>* tables,
                std::vector<PushedRows>* taped);

  // Takes row `index` of a table for the row `value`.
  absl::Status Add(int32_t table, int64_t index, ValueRow value) {
    TF_RETURN_IF_ERROR(tables_[table]->Claim(index));
    pushed_[table].indices.push_back(index);
    pushed_[table].values.Add(value);
    return absl::OkStatus();
  }

  // Copies what was added since the last flush, with a team.
  absl::Status Flush(const RowValues& values, Team* team);

 private:
  static absl::Status Copy(const RowValues& values, const PushedRows& pushed,
                           PushTable* table, RowMoves* moves);

  std::vector<std::unique_ptr<PushTable>>& tables_;
  std::vector<PushedRows>* const taped_;
  // By table: what was added since the last flush.
  std::vector<PushedRows> pushed_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_PUSHES_H_
