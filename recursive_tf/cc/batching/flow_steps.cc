#include "recursive_tf/cc/batching/flow_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

using Kind = FlowSource::Kind;

void FlowSteps::Start(int32_t num_rows) {
  readers_.AddValues(plan_.num_prologue_outputs);
  for (int32_t i = 0; i < plan_.num_prologue_outputs; ++i) {
    readers_.Add({i, 0});
  }
  const int32_t num_arguments = plan_.procedures.front().num_arguments;
  first_argument_ = readers_.AddValues(num_arguments);
  if (flow_.is_shared) {
    keys_.Expect(num_rows);
    shared_.reserve(num_rows);
    waiters_.reserve(num_rows);
  }
  entered_.reserve(num_rows);
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

bool FlowSteps::Next(Launch* launch) {
  if (is_refused() || schedule_.empty()) return false;
  launch->block = schedule_.TakeNext(&launch->activations);
  const FlowStage& stage =
      flow_.stages[table_[launch->activations.front()].stage];
  launch->inputs.resize(stage.inputs.size());
  launch->list_inputs.clear();
  launch->list_outputs.clear();
  launch->shared = EqualRows();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    JoinedRows& joined = launch->inputs[i];
    joined.resize(stage.inputs[i].size());
    if (stage.IsListInput(i)) continue;
    for (size_t part = 0; part < joined.size(); ++part) {
      FindRows(stage.inputs[i][part], launch->activations, &joined[part]);
    }
  }
  for (const FlowListInput& list : stage.list_inputs) {
    FindItems(stage.inputs[list.input].front(), list, launch);
  }
  read_last_.clear();
  for (const auto& [input, part] : stage.last_reads) {
    const auto& runs = launch->inputs[input][part].runs();
    read_last_.insert(read_last_.end(), runs.begin(), runs.end());
  }
  launch->first_value = readers_.AddValues(stage.num_outputs);
  for (const FlowListOutput& list : stage.list_outputs) {
    FindCounts(list, table_[launch->activations.front()].stage, launch);
  }
  return true;
}

void FlowSteps::Complete(const Launch& launch) {
  const FlowStage& stage =
      flow_.stages[table_[launch.activations.front()].stage];
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(launch.first_value + output, launch.num_activations());
  }
  readers_.FindUnread(launch.first_value, stage.num_outputs);
  for (size_t i = 0; i < stage.list_outputs.size(); ++i) {
    PutList(launch, stage.list_outputs[i], launch.list_outputs[i].counts);
  }
  for (int32_t i = 0; i < launch.num_activations() && !is_refused(); ++i) {
    const int32_t id = launch.activations[i];
    PrefetchAfter(launch.activations, i);
    table_.cell(id, stage.cell) = {launch.first_value, launch.RowOf(i)};
    Progress& progress = table_[id].progress;
    progress = schedule_.After(progress, launch.block);
    GoOn(id);
  }
  for (const RowRun& run : read_last_) readers_.Remove(run.value, run.num_rows);
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

std::vector<Rows> FlowSteps::Results() const {
  std::vector<Rows> columns(plan_.procedures.front().outputs.size());
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const int32_t id : of_rows_) columns[i].Add(table_.result(id, i));
  }
  return columns;
}

int64_t FlowSteps::num_bytes() const {
  const size_t bytes = shared_.size() * sizeof(Shared) +
                       waiters_.size() * sizeof(Waiter) +
                       asked_for_items_.size() * sizeof(int32_t);
  // With what growing arrays take at most.
  return table_.num_bytes() + static_cast<int64_t>(2 * bytes);
}

ValueRow FlowSteps::FindOther(int32_t id, FlowSource source) const {
  while (source.kind == Kind::kCall) {
    const int32_t way = table_.cell(id, source.cell).value;
    if (way >= 0) return table_.result(way, source.index);
    // A branch may hand on what another call gave, and that in its turn.
    source = flow_.calls[source.of].branches[WayOf(way)].results[source.index];
  }
  if (source.kind == Kind::kPrologue) return {source.index, 0};
  return Find(id, source);
}

template <typename FindSource>
int32_t FlowSteps::Ask(const FlowAsk& ask, int32_t parent, int32_t row,
                       const FindSource& find) {
  int64_t key = 0;
  if (ask.key.has_value()) {
    key = host_->ReadKey(find(*ask.key));
    const int32_t known = keys_.Find(key);
    if (known != kNone) return known;
  }
  const int32_t id = Begin(ask, parent, row);
  if (id == kNone) return kNone;
  if (ask.key.has_value()) {
    shared_.emplace_back(key);
    keys_.Add(key, id);
  }
  for (const int32_t argument : flow_.read_arguments) {
    const ValueRow found = find(ask.arguments[argument]);
    table_.cell(id, argument) = found;
    readers_.Add(found);
  }
  return id;
}

int32_t FlowSteps::Begin(const FlowAsk& ask, int32_t parent, int32_t row) {
  // A row of the root call is a level of depth, unless the call starts it.
  const int32_t around = flow_.subgraph == kRootProcedure ? 0 : 1;
  const int32_t depth =
      1 + (parent == kNoActivation ? around : table_[parent].call_depth);
  const ActivationTree::Verdict verdict = admission_.Judge(depth, num_bytes());
  if (verdict != ActivationTree::Verdict::kEntered) {
    refused_call_ = RefusedCall{verdict, parent, ask.site, flow_.subgraph, row};
    return kNone;
  }
  admission_.Enter();
  max_alive_ = std::max(max_alive_, admission_.num_invocations());
  const int32_t id = table_.Add();
  FlowInvocation& begun = table_[id];
  begun = FlowInvocation();
  begun.call_depth = depth;
  begun.parent = parent;
  begun.site = ask.site;
  begun.row = row;
  if (parent != kNoActivation) {
    begun.progress = table_[parent].progress;
    begun.decided_by = table_[parent].decided_by;
  }
  entered_.push_back(id);
  return id;
}

void FlowSteps::GoOnWithAll() {
  for (int64_t round = 1; !is_refused(); ++round) {
    if (round % kRoundsToAsk == 0) is_cancelled_ = host_->IsCancelled();
    const bool is_entered = !entered_.empty();
    std::swap(taken_, is_entered ? entered_ : resumed_);
    if (taken_.empty()) return;
    for (size_t i = 0; i < taken_.size() && !is_refused(); ++i) {
      const int32_t id = taken_[i];
      const FlowStage& stage = flow_.stages[table_[id].stage];
      if (!is_entered) {
        Arrive(id, stage.next.to);
      } else if (stage.block == kNoBlock) {
        GoOn(id);
      } else {
        WaitForBlock(id, stage.block);
      }
    }
    taken_.clear();
  }
}

void FlowSteps::GoOn(int32_t id) {
  const FlowStage& stage = flow_.stages[table_[id].stage];
  if (!Push(stage, id)) return;
  const FlowEdge* const edge = MakeCalls(stage, id);
  if (edge == nullptr) return;
  ++num_gone_[edge->id];
  Release(edge->deaths, id);
  if (table_[id].num_pending == 0) Arrive(id, edge->to);
}

void FlowSteps::Arrive(int32_t id, int32_t to) {
  while (true) {
    if (to == kEndOfFlow) {
      id = End(id);
      if (id == kNone) return;
      to = flow_.stages[table_[id].stage].next.to;
      continue;
    }
    const FlowStage& stage = flow_.stages[to];
    table_[id].stage = to;
    if (stage.block != kNoBlock) return WaitForBlock(id, stage.block);
    if (!stage.calls.empty()) return entered_.push_back(id);
    if (!Push(stage, id)) return;
    if (stage.returns_to != kNoCall) Hold(stage.returns_to, id);
    Release(stage.next.deaths, id);
    to = stage.next.to;
  }
}

bool FlowSteps::Push(const FlowStage& stage, int32_t id) {
  for (const FlowPush& push : stage.pushes) {
    if (host_->Push(push.table, Find(id, push.index), Find(id, push.value))) {
      continue;
    }
    refused_push_ = id;
    return false;
  }
  return true;
}

const FlowEdge* FlowSteps::MakeCalls(const FlowStage& stage, int32_t id) {
  const FlowEdge* edge = &stage.next;
  for (const int32_t index : stage.calls) {
    const FlowCall& call = flow_.calls[index];
    if (call.list.has_value()) {
      AskForItems(call, id);
      if (is_refused()) return nullptr;
      continue;
    }
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
    table_.cell(id, call.cell).value = WayOf(static_cast<int32_t>(way));
    if (branch.entry.has_value()) {
      edge = &*branch.entry;
    } else {
      Hold(index, id);
    }
  }
  return edge;
}

void FlowSteps::AskAt(const FlowCall& call, const FlowBranch& branch,
                      int32_t id) {
  const size_t num_entered = entered_.size();
  const int32_t asked =
      Ask(*branch.ask, id, /*row=*/0,
          [this, id](const FlowSource& source) { return Find(id, source); });
  if (asked == kNone) return;
  if (entered_.size() > num_entered && call.selector.has_value()) {
    Decide(Find(id, *call.selector), asked);
  }
  table_.cell(id, call.cell).value = asked;
  WaitFor(asked, id, branch.ask->site, /*item=*/0);
}

void FlowSteps::AskForItems(const FlowCall& call, int32_t id) {
  const FlowAsk& ask = *call.branches.front().ask;
  const int32_t count = table_.cell(id, *call.list + 1).value;
  table_.cell(id, call.cell) = {static_cast<int32_t>(asked_for_items_.size()),
                                count};
  for (int32_t item = 0; item < count; ++item) {
    const auto find = [this, id, item](const FlowSource& source) {
      ValueRow row = Find(id, source);
      if (source.is_of_item) row.row += item;
      return row;
    };
    const int32_t asked = Ask(ask, id, item, find);
    if (asked == kNone) return;
    asked_for_items_.push_back(asked);
    WaitFor(asked, id, ask.site, item);
  }
}

void FlowSteps::WaitFor(int32_t asked, int32_t id, int32_t site, int32_t item) {
  if (!flow_.is_shared) {
    ++table_[id].num_pending;
    return;
  }
  Shared& shared = shared_[asked];
  if (shared.has_ended) {
    Progress& progress = table_[id].progress;
    progress = std::max(progress, table_[asked].progress);
    return;
  }
  const auto added = static_cast<int32_t>(waiters_.size());
  waiters_.emplace_back(id, site, item, shared.last_waiter);
  if (shared.num_waiters < Shared::kFew) shared.first[shared.num_waiters] = id;
  ++shared.num_waiters;
  shared.last_waiter = added;
  ++table_[id].num_pending;
}

int32_t FlowSteps::End(int32_t id) {
  for (size_t i = 0; i < flow_.results.size(); ++i) {
    table_.result(id, i) = Find(id, flow_.results[i]);
  }
  for (const int32_t i : flow_.held_results) readers_.Add(table_.result(id, i));
  Release(flow_.deaths_at_end, id);
  admission_.Leave();
  if (!flow_.is_shared) return Return(id);
  Resume(id);
  return kNone;
}

void FlowSteps::Resume(int32_t ended) {
  Shared& shared = shared_[ended];
  shared.has_ended = true;
  const Progress& progress = table_[ended].progress;
  const int32_t num_first = std::min(shared.num_waiters, Shared::kFew);
  for (int32_t i = 0; i < num_first; ++i) ResumeOne(shared.first[i], progress);
  if (num_first == shared.num_waiters) return;
  for (const int32_t waits : LateWaiters(shared)) ResumeOne(waits, progress);
}

const std::vector<int32_t>& FlowSteps::LateWaiters(const Shared& shared) {
  late_.resize(shared.num_waiters - Shared::kFew);
  int32_t at = shared.last_waiter;
  for (auto late = late_.rbegin(); late != late_.rend(); ++late) {
    *late = waiters_[at].id;
    at = waiters_[at].before;
  }
  return late_;
}

int32_t FlowSteps::Return(int32_t ended) {
  table_.FreeCallees(ended);
  FlowInvocation& invocation = table_[ended];
  if (invocation.parent == kNoActivation) return kNone;
  FlowInvocation& caller = table_[invocation.parent];
  invocation.next_ended = std::exchange(caller.first_ended, ended);
  caller.progress = std::max(caller.progress, invocation.progress);
  return --caller.num_pending == 0 ? invocation.parent : kNone;
}

void FlowSteps::ReleaseOwn(const FlowEdge& edge, int32_t first_value) {
  const int32_t count = std::exchange(num_gone_[edge.id], 0);
  if (count == 0) return;
  for (const int32_t output : edge.own_deaths) {
    readers_.Remove(first_value + output, count);
  }
}

void FlowSteps::FindRows(const FlowSource& source,
                         const std::vector<int32_t>& ids, Rows* rows) const {
  rows->Clear();
  rows->Reserve(ids.size());
  // Results stand anywhere: what comes so many rows later is asked for now.
  constexpr size_t kAhead = 8;
  const bool is_of_call = source.kind == Kind::kCall;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (is_of_call && i + kAhead < ids.size()) {
      table_.PrefetchResults(table_.cell(ids[i + kAhead], source.cell).value);
    }
    rows->Add(Find(ids[i], source));
  }
}

}  // namespace recursive_tf
