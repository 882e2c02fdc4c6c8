#include "recursive_tf/cc/batching/calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/frames.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/memo_key.h"

namespace recursive_tf {

void Calls::Start(int32_t num_rows, int32_t first_argument) {
  results_.resize(num_rows);
  for (int32_t row = 0; row < num_rows; ++row) {
    const int32_t id = Enter(0, kNoActivation, 0, row);
    if (id == kNoActivation) return;
    for (int32_t i = 0; i < plan_.procedures.front().num_arguments; ++i) {
      activations_.Put(id, i, {first_argument + i, row});
    }
  }
}

void Calls::Continue(int32_t id) {
  const int32_t stage_index = activations_[id].stage;
  const Stage& stage = activations_.StageOf(id);
  if (!PushRows(stage, id)) return;
  if (stage.calls.size() == 1) {
    const CallSite& call = stage.calls.front();
    const Branch& branch = call.branches[BranchOf(call, id)];
    if (call.key.has_value()) return Share(call, *call.key, id);
    if (frames_.RunsInPlace(branch.procedure)) {
      Decide(call, id, id);
      return GoTo(branch, id);
    }
  }
  int32_t num_made = 0;
  for (const CallSite& call : stage.calls) num_made += Make(call, id);
  if (is_refused()) return;
  activations_.EndReads(id, stage_index);
  activations_[id].num_pending = num_made;
  if (num_made == 0) EndStage(id);
}

std::vector<Rows> Calls::Results() const {
  std::vector<Rows> columns(plan_.procedures.front().outputs.size());
  for (const std::vector<ValueRow>& row : results_) {
    for (size_t i = 0; i < columns.size(); ++i) columns[i].Add(row[i]);
  }
  return columns;
}

std::optional<SharedRows::Wait> Calls::FindCycle() const {
  if (activations_.table().num_alive() == 0) return std::nullopt;
  return recursive_tf::FindCycle(shared_.Waits(), activations_.table());
}

int32_t Calls::Enter(int32_t procedure, int32_t parent, int32_t site,
                     int32_t row) {
  const bool is_branch = plan_.procedures[procedure].is_branch;
  const int32_t depth =
      (parent == kNoActivation ? 0 : activations_[parent].call_depth) +
      (is_branch ? 0 : 1);
  const ActivationTree::Verdict verdict =
      is_branch ? ActivationTree::Verdict::kEntered : Judge(depth);
  if (verdict != ActivationTree::Verdict::kEntered) {
    refused_call_ = Refusal{verdict, parent, site, procedure, row};
    return kNoActivation;
  }
  if (!is_branch) ++num_invocations_;
  const int32_t id = activations_.table().Add(procedure);
  BatchedActivation& activation = activations_[id];
  activation.parent = parent;
  activation.site = site;
  activation.row = row;
  activation.call_depth = depth;
  if (parent != kNoActivation) {
    activation.progress = activations_[parent].progress;
    activation.decided_by = activations_[parent].decided_by;
  }
  entered_.push_back(id);
  return id;
}

ActivationTree::Verdict Calls::Judge(int32_t depth) const {
  if (limits_.IsTooDeep(depth)) return ActivationTree::Verdict::kTooDeep;
  if (limits_.IsTooLarge(num_bytes_ + activations_.table().num_bytes())) {
    return ActivationTree::Verdict::kTooLarge;
  }
  if (limits_.IsReached(num_invocations_)) {
    return ActivationTree::Verdict::kTooMany;
  }
  return ActivationTree::Verdict::kEntered;
}

bool Calls::PushRows(const Stage& stage, int32_t id) {
  for (const PlannedPush& push : stage.pushes) {
    if (!host_->Push(push.table, activations_.Find(id, push.index),
                     activations_.Find(id, push.value))) {
      refused_push_ = id;
      return false;
    }
  }
  return true;
}

void Calls::GoTo(const Branch& branch, int32_t id) {
  BatchedActivation& activation = activations_[id];
  const int32_t num_slots = plan_.procedures[activation.procedure].num_slots;
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    activations_.PutAt(id, num_slots, branch.procedure, static_cast<int32_t>(i),
                       activations_.Find(id, branch.arguments[i]));
  }
  activations_.EndReads(id, activation.stage);
  activation.procedure = branch.procedure;
  activation.stage = 0;
  activation.first_slot += num_slots;
  entered_.push_back(id);
}

void Calls::Share(const CallSite& call, Source number, int32_t id) {
  const Branch& body = call.branches.front();
  const MemoKey key{body.procedure,
                    host_->ReadKey(activations_.Find(id, number))};
  const SharedRow* shared = nullptr;
  const SharedRows::Verdict verdict = shared_.Ask(key, id, &shared);
  if (verdict == SharedRows::Verdict::kIsNew) return GoTo(body, id);
  activations_.EndReads(id, activations_[id].stage);
  if (verdict == SharedRows::Verdict::kWillEnd) return;
  TakeShared(*shared, call.first_result, id);
  EndStage(id);
}

void Calls::TakeShared(const SharedRow& shared, int32_t first_result,
                       int32_t id) {
  for (size_t i = 0; i < shared.results.size(); ++i) {
    activations_.Put(id, first_result + static_cast<int32_t>(i),
                     shared.results[i]);
  }
  Progress& progress = activations_[id].progress;
  progress = std::max(progress, shared.progress);
}

void Calls::EndShared(int32_t id, const Frames::Home& home,
                      size_t num_results) {
  std::vector<ValueRow> results;
  for (size_t i = 0; i < num_results; ++i) {
    const auto slot = home.first_result + static_cast<int32_t>(i);
    results.push_back(activations_.Find(id, Source::Slot(slot)));
    // For those that will ask, as long as the run lasts.
    if (activations_.IsRead(id, slot)) activations_.Keep(results.back());
  }
  std::vector<int32_t> waiters;
  const SharedRow& shared =
      shared_.End(id, std::move(results), activations_[id].progress, &waiters);
  for (const int32_t waiter : waiters) {
    TakeShared(shared, home.first_result, waiter);
  }
  resumed_.insert(resumed_.end(), waiters.begin(), waiters.end());
}

void Calls::GoBack(int32_t id) {
  const int32_t procedure = activations_[id].procedure;
  const Frames::Home& home = frames_.HomeOf(procedure);
  const std::vector<Source>& outputs = plan_.procedures[procedure].outputs;
  GoOut(id, outputs, home.procedure, home.first_result);
  activations_[id].stage = home.stage;
  if (home.is_shared) EndShared(id, home, outputs.size());
}

void Calls::GoOn(const Branch& loop, int32_t id) {
  GoOut(id, loop.arguments, loop.procedure, /*first_slot=*/0);
  activations_[id].stage = 0;
  entered_.push_back(id);
}

void Calls::GoOut(int32_t id, const std::vector<Source>& sources,
                  int32_t around, int32_t first_slot) {
  BatchedActivation& activation = activations_[id];
  const std::vector<Stage>& stages =
      plan_.procedures[activation.procedure].stages;
  const int32_t num_slots = plan_.procedures[around].num_slots;
  for (size_t i = 0; i < sources.size(); ++i) {
    activations_.PutAt(id, -num_slots, around,
                       first_slot + static_cast<int32_t>(i),
                       activations_.Find(id, sources[i]));
  }
  activations_.EndReads(id, static_cast<int32_t>(stages.size()));
  activation.procedure = around;
  activation.first_slot -= num_slots;
}

int32_t Calls::Make(const CallSite& call, int32_t caller) {
  if (is_refused()) return 0;
  const Branch& branch = call.branches[BranchOf(call, caller)];
  if (call.num_mapped > 0) return MakeForItems(call, branch, caller);
  const int32_t id = Enter(branch.procedure, caller, call.site, /*row=*/0);
  if (id == kNoActivation) return 0;
  Decide(call, caller, id);
  activations_[id].first_result = call.first_result;
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    activations_.Put(id, static_cast<int32_t>(i),
                     activations_.Find(caller, branch.arguments[i]));
  }
  return 1;
}

int32_t Calls::MakeForItems(const CallSite& call, const Branch& branch,
                            int32_t caller) {
  const ValueRow items = activations_.Find(caller, branch.arguments.front());
  const auto count = static_cast<int32_t>(activations_.Items(items).size());
  const size_t num_results = plan_.procedures[branch.procedure].outputs.size();
  for (size_t i = 0; i < num_results; ++i) {
    activations_.PutEmptyList(
        caller, call.first_result + static_cast<int32_t>(i), count);
  }
  for (int32_t row = 0; row < count; ++row) {
    const int32_t id = Enter(branch.procedure, caller, call.site, row);
    if (id == kNoActivation) return row;
    activations_[id].first_result = call.first_result;
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      const ValueRow argument = activations_.Find(caller, branch.arguments[i]);
      const bool is_mapped = static_cast<int32_t>(i) < call.num_mapped;
      activations_.Put(
          id, static_cast<int32_t>(i),
          is_mapped ? activations_.Items(argument)[row] : argument);
    }
  }
  return count;
}

size_t Calls::BranchOf(const CallSite& call, int32_t caller) {
  if (!call.selector.has_value()) return 0;
  const int32_t chosen =
      host_->ReadSelector(activations_.Find(caller, *call.selector));
  const size_t last = call.branches.size() - 1;
  return chosen < 0 ? last : std::min(static_cast<size_t>(chosen), last);
}

void Calls::Decide(const CallSite& call, int32_t caller, int32_t id) {
  if (!call.selector.has_value()) return;
  const ValueRow row = activations_.Find(caller, *call.selector);
  ValueRow& decided_by = activations_[id].decided_by;
  if (row.value > decided_by.value) decided_by = row;
}

void Calls::EndStage(int32_t id) {
  while (true) {
    BatchedActivation& activation = activations_[id];
    const PlannedProcedure& procedure = plan_.procedures[activation.procedure];
    if (++activation.stage < static_cast<int32_t>(procedure.stages.size())) {
      const Stage& stage = procedure.stages[activation.stage];
      if (stage.block != kNoBlock || !stage.calls.empty()) {
        entered_.push_back(id);
        return;
      }
      if (!PushRows(stage, id)) return;
      activations_.EndReads(id, activation.stage);
      continue;
    }
    if (procedure.goes_on.has_value()) return GoOn(*procedure.goes_on, id);
    if (frames_.RunsInPlace(activation.procedure)) {
      GoBack(id);
      continue;
    }
    const int32_t caller = Leave(id);
    if (caller == kNoActivation) return;
    if (--activations_[caller].num_pending > 0) return;
    id = caller;
  }
}

int32_t Calls::Leave(int32_t id) {
  const BatchedActivation& activation = activations_[id];
  const int32_t caller = activation.parent;
  const PlannedProcedure& procedure = plan_.procedures[activation.procedure];
  if (activation.parent == kNoActivation) {
    for (const Source& output : procedure.outputs) {
      const ValueRow row = activations_.Find(id, output);
      activations_.Keep(row);
      results_[activation.row].push_back(row);
    }
  } else {
    for (size_t i = 0; i < procedure.outputs.size(); ++i) {
      activations_.PutResult(
          activation.parent, activation.first_result + static_cast<int32_t>(i),
          activation.row, activations_.Find(id, procedure.outputs[i]));
    }
    Progress& progress = activations_[activation.parent].progress;
    progress = std::max(progress, activation.progress);
  }
  activations_.EndReads(id, static_cast<int32_t>(procedure.stages.size()));
  activations_.table().Remove(id);
  if (!procedure.is_branch) --num_invocations_;
  return caller;
}

}  // namespace recursive_tf
