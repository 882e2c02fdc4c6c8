// Blocks of a flow that only look up rows, and so are not launched.

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"

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

void FlowSteps::LookUp(const FlowStage& stage, Group* group) {
  Tables& tables = tables_[stage.block];
  ScalarsOf scalars_of([this](int32_t value) { return host_->Numbers(value); });
  FindAll(stage.inputs.front().front(), *group, &found_);
  const bool is_last = !stage.last_reads.empty();
  to_launch_.clear();
  size_t num_found = 0;
  for (size_t i = 0; i < group->size(); ++i) {
    FlowInvocation* const by = (*group)[i];
    const ValueRow number = found_[i];
    const Scalars& its = scalars_of(number);
    const int64_t row = its.At(number.row);
    if (its.empty() || row < 0 || row >= tables.num_rows) {
      to_launch_.push_back(by);
      continue;
    }
    by->cells()[stage.cell] = {tables.first_value, static_cast<int32_t>(row)};
    if (is_last) ReadLast(number.value, 1);
    (*group)[num_found++] = by;
  }
  group->resize(num_found);
  has_looked_up_ = true;
  if (!to_launch_.empty()) WaitForBlock(to_launch_, stage.block);
  tables.num_looked_up += static_cast<int64_t>(num_found);
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(tables.first_value + output, static_cast<int32_t>(num_found));
  }
}

void FlowSteps::ReleaseLookedUp() {
  if (!has_looked_up_) return;
  has_looked_up_ = false;
  for (size_t at = 0; at < flow_.stages.size(); ++at) {
    const int32_t block = flow_.stages[at].block;
    if (block == kNoBlock || tables_[block].empty()) continue;
    ForEachEdge(&flow_, at, [&](const FlowEdge* edge) {
      ReleaseOwn(*edge, tables_[block].first_value);
    });
  }
}

}  // namespace recursive_tf
