#include "recursive_tf/cc/tf/batched_pushes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/row_moves.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

BatchedPushes::BatchedPushes(std::vector<std::unique_ptr<PushTable>>* tables,
                             std::vector<PushedRows>* taped)
    : tables_(*tables), taped_(taped), pushed_(tables->size()) {}

absl::Status BatchedPushes::Flush(const RowValues& values, Team* team) {
  RowMoves moves(team);
  for (size_t table = 0; table < pushed_.size(); ++table) {
    PushedRows& pushed = pushed_[table];
    if (pushed.indices.empty()) continue;
    TF_RETURN_IF_ERROR(Copy(values, pushed, tables_[table].get(), &moves));
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

absl::Status BatchedPushes::Copy(const RowValues& values,
                                 const PushedRows& pushed, PushTable* table,
                                 RowMoves* moves) {
  const auto num_rows = static_cast<int64_t>(pushed.indices.size());
  const int64_t* index = pushed.indices.data();
  tf::Tensor rows;
  std::optional<RowView> to;
  int32_t value = ValueRow::kNoValue;
  for (const RowRun& run : pushed.values.runs()) {
    if (run.value != value) {
      TF_RETURN_IF_ERROR(table->TableOf(values[run.value], &rows));
      to.emplace(rows);
    }
    value = run.value;
    const RowView& from = values.view(value);
    const bool is_shared =
        from.is_bytes && num_rows * from.num_bytes >= kBytesToShare;
    for (int32_t i = 0; i < run.num_rows; ++i) {
      const int64_t row = run.first_row + i * run.stride;
      if (is_shared) {
        moves->Copy(from.At(row), *to, *index++);
      } else {
        CopyRows(from, row, 1, *to, *index++);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
