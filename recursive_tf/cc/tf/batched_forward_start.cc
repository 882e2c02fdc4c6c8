// What a batched root call has before its first launch: what all activations
// share, and what is known of all that they may look up.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/batched_forward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/compiled_block.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BatchedForward::RunPrologue(std::vector<tf::Tensor> captures,
                                         int32_t num_rows) {
  const Block& prologue = blocks_[spec_.program.plan.num_blocks];
  CompiledRun never;
  TF_RETURN_IF_ERROR(prologue.Run(step_, AsBatches(std::move(captures)),
                                  &invariants_, &record_->prologue, &never));
  spec_.late.MakeRoom(&record_->prologue);
  if (num_rows > 0) {
    const absl::Status status = RunLate(spec_.late.at_start);
    if (!status.ok()) {
      return errors_.FailedAt(0, spec_.program.names.front(), status);
    }
  }
  for (int32_t i = 0; i < spec_.program.plan.num_prologue_outputs; ++i) {
    tf::Tensor row;
    TF_RETURN_IF_ERROR(AsOneRow(record_->prologue[i], &row));
    AddValue(std::move(row));
  }
  watch_.Lap(&report_.seconds_blocks);
  return absl::OkStatus();
}

absl::Status BatchedForward::AddTables(int32_t num_rows) {
  for (int32_t block = 0; block < spec_.program.plan.num_blocks; ++block) {
    // A gradient wants launches; and what may fail waits for one.
    const int32_t count = steps_->NumTables(block);
    if (count == 0 || IsTaped(block) || !spec_.late.of_block[block].empty()) {
      continue;
    }
    Block::KnownRows known;
    const absl::Status status = CatchExceptions([&] {
      return blocks_[block].FindKnownRows(step_, num_rows, record_->prologue,
                                          &invariants_, &known);
    });
    if (!status.ok()) return errors_.FailedBlock(block, status);
    if (known.outputs.size() != static_cast<size_t>(count)) continue;
    steps_->AddTables(block, count, known.num_rows);
    if (bound_.has_value()) bound_->AddTables(count);
    const bool are_shared = blocks_[block].SharesRows();
    for (tf::Tensor& rows : known.outputs) {
      if (spec_.keep) tape_.AddValue(rows, are_shared);
      if (known.are_borrowed) {
        values_.AddBorrowed(std::move(rows), are_shared);
      } else {
        values_.Add(std::move(rows), are_shared);
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
