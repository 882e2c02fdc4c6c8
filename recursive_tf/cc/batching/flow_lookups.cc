// Blocks of a flow that only look up rows, and so are not launched.

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

int32_t FlowSteps::NumTables(int32_t block) const {
  for (const FlowStage& stage : flow_.stages) {
    if (stage.block != block) continue;
    const bool takes_number =
        stage.inputs.size() == 1 && stage.inputs.front().size() == 1 &&
        stage.list_inputs.empty() && stage.list_outputs.empty();
    return takes_number ? stage.num_outputs : 0;
  }
  return 0;
}

void FlowSteps::StartTables() {
  for (const int32_t block : looked_up_) {
    Tables& tables = tables_[block];
    tables.first_value = readers_.AddValues(tables.count);
    // As outputs of the prologue they stay to the end.
    for (int32_t i = 0; i < tables.count; ++i) {
      readers_.Add({tables.first_value + i, 0});
    }
  }
}

bool FlowSteps::LookUp(const FlowStage& stage, FlowInvocation* by) {
  Tables& tables = tables_[stage.block];
  if (tables.empty()) return false;
  const ValueRow number = Find(*by, stage.inputs.front().front());
  int64_t row = 0;
  if (!host_->ReadNumber(number, &row)) return false;
  if (row < 0 || row >= tables.num_rows) return false;
  ++tables.num_looked_up;
  by->cells[stage.cell] = {tables.first_value, static_cast<int32_t>(row)};
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(tables.first_value + output, 1);
  }
  if (!stage.last_reads.empty()) readers_.Remove(number);
  return true;
}

void FlowSteps::ReleaseLookedUp() {
  if (looked_up_.empty()) return;
  for (size_t at = 0; at < flow_.stages.size(); ++at) {
    const int32_t block = flow_.stages[at].block;
    if (block == kNoBlock || tables_[block].empty()) continue;
    ForEachEdge(&flow_, at, [&](const FlowEdge* edge) {
      ReleaseOwn(*edge, tables_[block].first_value);
    });
  }
}

}  // namespace recursive_tf
