#include "recursive_tf/cc/batching/shared_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_flow.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

using Kind = FlowSource::Kind;

void SharedSteps::Start(int32_t num_rows) {
  readers_.AddValues(plan_.num_prologue_outputs);
  for (int32_t i = 0; i < plan_.num_prologue_outputs; ++i) {
    readers_.Add({i, 0});
  }
  const int32_t num_arguments = plan_.procedures.front().num_arguments;
  first_argument_ = readers_.AddValues(num_arguments);
  keys_.Expect(num_rows);
  invocations_.reserve(num_rows);
  cells_.resize(static_cast<size_t>(num_rows) * flow_.num_cells);
  results_.resize(static_cast<size_t>(num_rows) * flow_.results.size());
  waiters_.reserve(num_rows);
  begun_.reserve(num_rows);
  of_rows_.reserve(num_rows);
  for (int32_t row = 0; row < num_rows; ++row) {
    const int32_t asked = Ask(flow_.root, kNoActivation, row,
                              [this, row](const FlowSource& source) {
                                return FindAtRoot(row, source);
                              });
    if (asked == kNone) break;
    of_rows_.push_back(asked);
  }
  readers_.FindUnread(first_argument_, num_arguments);
  GoOnWithAll();
}

bool SharedSteps::Next(Launch* launch) {
  if (is_refused() || schedule_.empty()) return false;
  launch->block = schedule_.TakeNext(&launch->activations);
  const FlowStage& stage =
      flow_.stages[invocations_[launch->activations.front()].stage];
  launch->inputs.resize(stage.inputs.size());
  launch->list_inputs.clear();
  launch->list_outputs.clear();
  launch->shared = EqualRows();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    JoinedRows& joined = launch->inputs[i];
    joined.resize(stage.inputs[i].size());
    for (size_t part = 0; part < joined.size(); ++part) {
      FindRows(stage.inputs[i][part], launch->activations, &joined[part]);
    }
  }
  launch->first_value = readers_.AddValues(stage.num_outputs);
  return true;
}

void SharedSteps::Complete(const Launch& launch) {
  const FlowStage& stage =
      flow_.stages[invocations_[launch.activations.front()].stage];
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(launch.first_value + output, launch.num_activations());
  }
  readers_.FindUnread(launch.first_value, stage.num_outputs);
  for (int32_t i = 0; i < launch.num_activations() && !is_refused(); ++i) {
    const int32_t id = launch.activations[i];
    Cell(id, stage.cell) = {launch.first_value, launch.RowOf(i)};
    Progress& progress = invocations_[id].progress;
    progress = schedule_.After(progress, launch.block);
    GoOn(id);
  }
  ReleaseOwn(stage.next, launch.first_value);
  for (const int32_t call : stage.calls) {
    for (const FlowBranch& branch : flow_.calls[call].branches) {
      if (branch.entry.has_value()) {
        ReleaseOwn(*branch.entry, launch.first_value);
      }
    }
  }
  GoOnWithAll();
}

std::vector<Rows> SharedSteps::Results() const {
  std::vector<Rows> columns(plan_.procedures.front().outputs.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const int32_t id : of_rows_) {
      columns[i].Add(Result(id, static_cast<int32_t>(i)));
    }
  }
  return columns;
}

int64_t SharedSteps::num_bytes() const {
  const size_t num_rows = flow_.num_cells + flow_.results.size();
  const size_t bytes =
      invocations_.size() * (sizeof(Invocation) + num_rows * sizeof(ValueRow)) +
      waiters_.size() * sizeof(Waiter);
  // With what growing arrays take at most.
  return static_cast<int64_t>(2 * bytes);
}

ValueRow SharedSteps::FindOther(int32_t id, FlowSource source) const {
  while (source.kind == Kind::kCall) {
    const int32_t way = Cell(id, source.cell).value;
    if (way >= 0) return Result(way, source.index);
    // A branch may hand on what another call gave, and that in its turn.
    source = flow_.calls[source.of].branches[WayOf(way)].results[source.index];
  }
  if (source.kind == Kind::kPrologue) return {source.index, 0};
  return Find(id, source);
}

ValueRow SharedSteps::FindAtRoot(int32_t row, const FlowSource& source) const {
  if (source.kind == Kind::kPrologue) return {source.index, 0};
  return {first_argument_ + source.index, row};
}

template <typename FindSource>
int32_t SharedSteps::Ask(const FlowAsk& ask, int32_t parent, int32_t row,
                         const FindSource& find) {
  const int64_t key = host_->ReadKey(find(ask.key));
  const int32_t known = keys_.Find(key);
  if (known != kNone) return known;
  const int32_t id = Begin(ask, key, parent, row);
  if (id == kNone) return kNone;
  for (const int32_t argument : flow_.read_arguments) {
    const ValueRow found = find(ask.arguments[argument]);
    Cell(id, argument) = found;
    readers_.Add(found);
  }
  return id;
}

int32_t SharedSteps::Begin(const FlowAsk& ask, int64_t key, int32_t parent,
                           int32_t row) {
  // A row of the root call is a level of depth, unless the call starts it.
  const int32_t around = flow_.front == kRootProcedure ? 0 : 1;
  const int32_t depth =
      1 + (parent == kNoActivation ? around : invocations_[parent].call_depth);
  const ActivationTree::Verdict verdict = admission_.Judge(depth, num_bytes());
  if (verdict != ActivationTree::Verdict::kEntered) {
    refused_call_ = RefusedCall{verdict, parent, ask.site, flow_.front, row};
    return kNone;
  }
  admission_.Enter();
  max_alive_ = std::max(max_alive_, admission_.num_invocations());
  const auto id = static_cast<int32_t>(invocations_.size());
  Invocation begun;
  begun.call_depth = depth;
  begun.parent = parent;
  begun.site = ask.site;
  begun.row = row;
  begun.key = key;
  if (parent != kNoActivation) {
    begun.progress = invocations_[parent].progress;
    begun.decided_by = invocations_[parent].decided_by;
  }
  invocations_.push_back(begun);
  const size_t count = invocations_.size();
  if (count * flow_.num_cells > cells_.size() ||
      count * flow_.results.size() > results_.size()) {
    cells_.resize(2 * count * flow_.num_cells);
    results_.resize(2 * count * flow_.results.size());
  }
  keys_.Add(key, id);
  begun_.push_back(id);
  return id;
}

void SharedSteps::GoOnWithAll() {
  while (!is_refused()) {
    if (!begun_.empty()) {
      std::swap(taken_, begun_);
      for (size_t i = 0; i < taken_.size() && !is_refused(); ++i) {
        if (Arrive(taken_[i], /*stage=*/0)) GoOn(taken_[i]);
      }
    } else if (!resumed_.empty()) {
      std::swap(taken_, resumed_);
      for (size_t i = 0; i < taken_.size() && !is_refused(); ++i) {
        const int32_t id = taken_[i];
        if (Arrive(id, flow_.stages[invocations_[id].stage].next.to)) GoOn(id);
      }
    } else {
      return;
    }
    taken_.clear();
  }
}

void SharedSteps::GoOn(int32_t id) {
  while (true) {
    const FlowStage& stage = flow_.stages[invocations_[id].stage];
    if (!Push(stage, id)) return;
    const FlowEdge* const edge = MakeCalls(stage, id);
    if (edge == nullptr) return;
    ++num_gone_[edge->id];
    Release(edge->deaths, id);
    if (invocations_[id].num_pending > 0 || !Arrive(id, edge->to)) return;
  }
}

bool SharedSteps::Arrive(int32_t id, int32_t stage) {
  if (stage == kEndOfFlow) {
    End(id);
    return false;
  }
  Invocation& invocation = invocations_[id];
  invocation.stage = stage;
  const int32_t block = flow_.stages[stage].block;
  if (block == kNoBlock) return true;
  schedule_.Add(id, invocation.progress, invocation.call_depth, block);
  return false;
}

bool SharedSteps::Push(const FlowStage& stage, int32_t id) {
  for (const FlowPush& push : stage.pushes) {
    if (host_->Push(push.table, Find(id, push.index), Find(id, push.value))) {
      continue;
    }
    refused_push_ = id;
    return false;
  }
  return true;
}

const FlowEdge* SharedSteps::MakeCalls(const FlowStage& stage, int32_t id) {
  const FlowEdge* edge = &stage.next;
  for (const int32_t index : stage.calls) {
    const FlowCall& call = flow_.calls[index];
    size_t way = 0;
    if (call.selector.has_value()) {
      const int32_t chosen = host_->ReadSelector(Find(id, *call.selector));
      way = CallSite::BranchFor(chosen, call.branches.size());
    }
    const FlowBranch& branch = call.branches[way];
    if (branch.decides) Decide(Find(id, *call.selector), id);
    if (branch.ask.has_value()) {
      AskAt(call, branch, id);
      if (is_refused()) return nullptr;
      continue;
    }
    Cell(id, call.cell).value = WayOf(static_cast<int32_t>(way));
    if (branch.entry.has_value()) edge = &*branch.entry;
  }
  return edge;
}

void SharedSteps::AskAt(const FlowCall& call, const FlowBranch& branch,
                        int32_t id) {
  const size_t num_before = invocations_.size();
  const int32_t asked =
      Ask(*branch.ask, id, /*row=*/0,
          [this, id](const FlowSource& source) { return Find(id, source); });
  if (asked == kNone) return;
  if (invocations_.size() > num_before && call.selector.has_value()) {
    Decide(Find(id, *call.selector), asked);
  }
  Cell(id, call.cell).value = asked;
  if (!invocations_[asked].has_ended) {
    return WaitFor(asked, id, branch.ask->site);
  }
  Progress& progress = invocations_[id].progress;
  progress = std::max(progress, invocations_[asked].progress);
}

void SharedSteps::WaitFor(int32_t asked, int32_t id, int32_t site) {
  const auto added = static_cast<int32_t>(waiters_.size());
  waiters_.push_back({id, site, kNone});
  Invocation& invocation = invocations_[asked];
  if (invocation.first_waiter == kNone) {
    invocation.first_waiter = added;
  } else {
    waiters_[invocation.last_waiter].next = added;
  }
  invocation.last_waiter = added;
  ++invocations_[id].num_pending;
}

void SharedSteps::End(int32_t id) {
  const size_t first = static_cast<size_t>(id) * flow_.results.size();
  for (size_t i = 0; i < flow_.results.size(); ++i) {
    results_[first + i] = Find(id, flow_.results[i]);
    // For those that will ask, as long as the run lasts.
    readers_.Add(results_[first + i]);
  }
  Release(flow_.deaths_at_end, id);
  Invocation& ended = invocations_[id];
  ended.has_ended = true;
  admission_.Leave();
  for (int32_t at = ended.first_waiter; at != kNone; at = waiters_[at].next) {
    const int32_t waits = waiters_[at].id;
    Invocation& invocation = invocations_[waits];
    invocation.progress = std::max(invocation.progress, ended.progress);
    if (--invocation.num_pending == 0) resumed_.push_back(waits);
  }
}

void SharedSteps::ReleaseOwn(const FlowEdge& edge, int32_t first_value) {
  const int32_t count = std::exchange(num_gone_[edge.id], 0);
  if (count == 0) return;
  for (const int32_t output : edge.own_deaths) {
    readers_.Remove(first_value + output, count);
  }
}

void SharedSteps::FindRows(const FlowSource& source,
                           const std::vector<int32_t>& ids, Rows* rows) const {
  rows->Clear();
  rows->Reserve(ids.size());
  // Results stand anywhere: what comes so many rows later is asked for now.
  constexpr size_t kAhead = 8;
  const bool is_of_call = source.kind == Kind::kCall;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (is_of_call && i + kAhead < ids.size()) {
      const int32_t asked = Cell(ids[i + kAhead], source.cell).value;
      if (asked >= 0) {
        __builtin_prefetch(&results_[asked * flow_.results.size()]);
      }
    }
    rows->Add(Find(ids[i], source));
  }
}

std::vector<PathStep> SharedSteps::StepsOf(int32_t id) const {
  const Invocation& invocation = invocations_[id];
  return StepsOfCallee(invocation.parent,
                       {flow_.front, invocation.site, invocation.row});
}

std::vector<PathStep> SharedSteps::StepsOfCallee(int32_t caller,
                                                 PathStep callee) const {
  std::vector<PathStep> upward = {callee};
  for (; caller != kNoActivation; caller = invocations_[caller].parent) {
    const Invocation& invocation = invocations_[caller];
    upward.push_back({flow_.front, invocation.site, invocation.row});
  }
  return FromRoot(std::move(upward));
}

std::optional<WaitCycle> SharedSteps::FindCycle() const {
  if (num_alive() == 0) return std::nullopt;
  return FindWaitCycle(
      Waits(), [this](int32_t id) { return invocations_[id].parent; },
      [this](int32_t id) -> std::optional<int64_t> {
        return invocations_[id].key;
      });
}

std::vector<WaitingCall> SharedSteps::Waits() const {
  std::vector<WaitingCall> waits;
  for (size_t i = 0; i < invocations_.size(); ++i) {
    const Invocation& asked = invocations_[i];
    if (asked.has_ended) continue;
    const auto runner = static_cast<int32_t>(i);
    for (int32_t at = asked.first_waiter; at != kNone; at = waiters_[at].next) {
      const Waiter& waiter = waiters_[at];
      // Who began it waits first.
      if (waiter.id == asked.parent && at == asked.first_waiter) continue;
      const PathStep front{flow_.front, waiter.site, /*ordinal=*/0};
      waits.push_back({waiter.id, front, runner, asked.key});
    }
  }
  return waits;
}

}  // namespace recursive_tf
