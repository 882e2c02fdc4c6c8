#include "recursive_tf/cc/tf/batched_pushes.h"

#include <cstddef>
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

BatchedPushes::BatchedPushes(std::vector<std::unique_ptr<PushTable>>* tables,
                             std::vector<PushedRows>* taped)
    : tables_(*tables), taped_(taped), pushed_(tables->size()) {}

absl::Status BatchedPushes::Add(int32_t table, int64_t index, ValueRow value) {
  TF_RETURN_IF_ERROR(tables_[table]->Claim(index));
  pushed_[table].indices.push_back(index);
  pushed_[table].values.Add(value);
  return absl::OkStatus();
}

absl::Status BatchedPushes::Flush(const RowValues& values, Team* team) {
  RowMoves moves(team);
  for (size_t table = 0; table < pushed_.size(); ++table) {
    PushedRows& pushed = pushed_[table];
    const int64_t* indices = pushed.indices.data();
    for (const RowRun& run : pushed.values.runs()) {
      TF_RETURN_IF_ERROR(tables_[table]->CopyToClaimed(values[run.value], run,
                                                       indices, &moves));
      indices += run.num_rows;
    }
    if (taped_ != nullptr) {
      PushedRows& taped = (*taped_)[table];
      taped.indices.insert(taped.indices.end(), pushed.indices.begin(),
                           pushed.indices.end());
      taped.values.Add(pushed.values);
    }
    // The next launch pushes as much again.
    pushed.indices.clear();
    pushed.values.Clear();
  }
  moves.Finish();
  return absl::OkStatus();
}

}  // namespace recursive_tf
