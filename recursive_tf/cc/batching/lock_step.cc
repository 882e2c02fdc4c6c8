#include "recursive_tf/cc/batching/lock_step.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/calls.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/schedule.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

void LockStep::Start(int32_t num_rows) {
  activations_.AddValues(plan_.num_prologue_outputs);
  for (int32_t i = 0; i < plan_.num_prologue_outputs; ++i) {
    activations_.Keep({i, 0});
  }
  const int32_t num_arguments = plan_.procedures.front().num_arguments;
  const int32_t first = activations_.AddValues(num_arguments);
  calls_.Start(num_rows, first);
  activations_.FindUnread(first, num_arguments);
  WaitForBlocks();
}

bool LockStep::Next(Launch* launch) {
  if (calls_.is_refused() || schedule_.empty()) return false;
  launch->block = schedule_.TakeNext(&launch->activations);
  const int32_t front = launch->activations.front();
  const Stage& stage = activations_.StageOf(front);
  const PlannedProcedure& procedure = activations_.ProcedureOf(front);
  launch->inputs.resize(stage.inputs.size());
  launch->list_inputs.clear();
  launch->list_outputs.clear();
  launch->shared = EqualRows();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    const Source first = stage.inputs[i].front();
    if (const PlannedList* list = procedure.ListAt(first)) {
      FindItems(*list, i, launch);
    } else {
      FindRows(stage.inputs[i], launch->activations, &launch->inputs[i]);
    }
  }
  launch->first_value = activations_.AddValues(stage.num_outputs);
  for (const PlannedList& list : procedure.lists) {
    FindCounts(list, stage, launch);
  }
  return true;
}

void LockStep::Complete(const Launch& launch) {
  const Stage& stage = activations_.StageOf(launch.activations.front());
  PutLists(launch, stage);
  FindReadOutputs(launch, stage);
  activations_.FindUnread(launch.first_value, stage.num_outputs);
  // One pass: there may be more activations than a cache holds.
  for (int32_t i = 0; i < launch.num_activations() && !calls_.is_refused();
       ++i) {
    activations_.table().PrefetchParentAfter(launch.activations, i);
    const int32_t id = launch.activations[i];
    const int32_t row = launch.RowOf(i);
    for (const int32_t k : read_outputs_) {
      activations_.PutExpected(id, stage.first_output + k,
                               {launch.first_value + k, row});
    }
    Progress& progress = activations_[id].progress;
    progress = schedule_.After(progress, launch.block);
    if (recorder_ != nullptr) {
      recorder_->Launch(id, launch.block, activations_[id].call_depth);
    }
    calls_.Continue(id);
  }
  WaitForBlocks();
}

const std::vector<int32_t>& LockStep::TakeDeadValues() {
  return activations_.TakeDeadValues();
}

const std::optional<RefusedCall>& LockStep::refused_call() const {
  return calls_.refused_call();
}

const std::optional<int32_t>& LockStep::refused_push() const {
  return calls_.refused_push();
}

std::optional<WaitCycle> LockStep::FindCycle() const {
  return calls_.FindCycle();
}

std::vector<PathStep> LockStep::StepsOf(int32_t id) const {
  return StepsOfPath(plan_, activations_, id);
}

std::vector<PathStep> LockStep::StepsOfCallee(int32_t caller,
                                              PathStep callee) const {
  return StepsOfCall(plan_, activations_, caller, callee);
}

int32_t LockStep::SubGraphOf(int32_t id) const {
  return recursive_tf::SubGraphOf(plan_, activations_, id);
}

ValueRow LockStep::DecidedBy(int32_t id) const {
  return activations_.table()[id].decided_by;
}

void LockStep::WaitForBlocks() {
  calls_.TakeToBlocks([this](int32_t id, int32_t block) {
    const BatchedActivation& activation = activations_[id];
    schedule_.Add(id, activation.progress, activation.call_depth, block);
  });
}

void LockStep::FindRows(const StageInput& input,
                        const std::vector<int32_t>& activations,
                        JoinedRows* joined) {
  joined->resize(input.size());
  for (size_t i = 0; i < input.size(); ++i) {
    (*joined)[i].Assign(activations.size(), [&](size_t place) {
      return activations_.Find(activations[place], input[i]);
    });
  }
}

void LockStep::FindItems(const PlannedList& list, size_t input,
                         Launch* launch) {
  launch->inputs[input].resize(1);
  Rows& rows = launch->inputs[input].front();
  rows.Clear();
  ListInput& added = launch->list_inputs.emplace_back();
  added.input = static_cast<int32_t>(input);
  added.no_items = list.no_items;
  for (const int32_t id : launch->activations) {
    const std::vector<ValueRow>& items =
        activations_.Items(activations_.Find(id, Source::Slot(list.slot)));
    for (const ValueRow item : items) rows.Add(item);
    added.counts.push_back(static_cast<int32_t>(items.size()));
  }
}

void LockStep::FindCounts(const PlannedList& list, const Stage& stage,
                          Launch* launch) {
  const auto output_at = [&stage](int32_t slot) {
    const int32_t output = slot - stage.first_output;
    return output >= 0 && output < stage.num_outputs ? output : -1;
  };
  const int32_t output = output_at(list.slot);
  if (output < 0) return;
  ListOutput& added = launch->list_outputs.emplace_back();
  added.output = output;
  const int32_t counts = output_at(list.count.slot);
  for (int32_t i = 0; i < launch->num_activations(); ++i) {
    added.counts.push_back(
        counts < 0 ? activations_.Find(launch->activations[i], list.count)
                   : ValueRow{launch->first_value + counts, i});
  }
}

void LockStep::PutLists(const Launch& launch, const Stage& stage) {
  for (const ListOutput& made : launch.list_outputs) {
    const int32_t slot = stage.first_output + made.output;
    if (!activations_.IsRead(launch.activations.front(), slot)) continue;
    int32_t row = 0;
    for (int32_t i = 0; i < launch.num_activations(); ++i) {
      const int32_t count = host_->ReadCount(made.counts[i]);
      activations_.PutRows(launch.activations[i], slot,
                           {launch.first_value + made.output, row}, count);
      row += count;
    }
  }
}

void LockStep::FindReadOutputs(const Launch& launch, const Stage& stage) {
  read_outputs_.clear();
  for (int32_t k = 0; k < stage.num_outputs; ++k) {
    const int32_t slot = stage.first_output + k;
    if (!activations_.IsRead(launch.activations.front(), slot)) continue;
    if (launch.IsListOutput(k)) continue;
    activations_.Expect(launch.first_value + k, launch.num_activations());
    read_outputs_.push_back(k);
  }
}

}  // namespace recursive_tf
