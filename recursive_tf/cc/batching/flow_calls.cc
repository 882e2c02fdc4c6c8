// The calls of a flow: who is asked for, and who waits (flow_steps.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_shared.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/flow_table.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

template <typename FindSource>
FlowInvocation* FlowSteps::Ask(const FlowAsk& ask, FlowInvocation* parent,
                               int32_t row, const FindSource& find) {
  int64_t key = 0;
  if (ask.key.has_value()) {
    key = host_->KeyAt(find(*ask.key));
    const int32_t known = keys_.Find(key);
    if (known != KeyTable::kNone) return table_[known];
  }
  FlowInvocation* const begun = Begin(ask, parent, row);
  if (begun == nullptr) return nullptr;
  if (ask.key.has_value()) {
    shared_.emplace_back(key);
    keys_.Add(key, begun->id);
  }
  for (const int32_t argument : flow_.read_arguments) {
    const ValueRow found = find(ask.arguments[argument]);
    begun->cells()[argument] = found;
    readers_.Add(found);
  }
  return begun;
}

FlowInvocation* FlowSteps::Begin(const FlowAsk& ask, FlowInvocation* parent,
                                 int32_t row) {
  // A row of the root call is a level of depth, unless the call starts it.
  const int32_t around = flow_.subgraph == kRootProcedure ? 0 : 1;
  const int32_t depth = 1 + (parent == nullptr ? around : parent->call_depth);
  const ActivationTree::Verdict verdict = admission_.Judge(depth, num_bytes());
  if (verdict != ActivationTree::Verdict::kEntered) {
    refused_call_ =
        RefusedCall{verdict, parent == nullptr ? kNoActivation : parent->id,
                    ask.site, flow_.subgraph, row};
    return nullptr;
  }
  admission_.Enter();
  max_alive_ = std::max(max_alive_, admission_.num_invocations());
  FlowInvocation* const begun = table_.Add();
  begun->call_depth = depth;
  begun->site = ask.site;
  begun->row = row;
  if (parent != nullptr) {
    begun->parent = parent;
    begun->progress = parent->progress;
    begun->decided_by = parent->decided_by;
  }
  entered_.push_back(begun);
  return begun;
}

FlowInvocation* FlowSteps::AskAtRoot(int32_t row) {
  return Ask(flow_.root, /*parent=*/nullptr, row,
             [this, row](const FlowSource& source) {
               return FindAtRoot(row, source);
             });
}

bool FlowSteps::MakeCalls(const FlowStage& stage, const Group& group) {
  const FlowCall& first = flow_.calls[stage.calls.front()];
  if (stage.calls.size() == 1 && first.is_fork()) {
    Fork(stage, first, group);
    return true;
  }
  const bool all_ask =
      std::all_of(stage.calls.begin(), stage.calls.end(),
                  [this](int32_t call) { return flow_.calls[call].is_ask(); });
  if (all_ask && !flow_.is_shared) return AskAll(stage, group);
  for (FlowInvocation* const by : group) {
    const FlowEdge* const edge = MakeCallsOf(stage, by);
    if (edge == nullptr) return false;
    if (by->num_pending == 0) {
      by_edge_[edge->id].push_back(by);
      continue;
    }
    ++num_gone_[edge->id];
    for (const FlowDeath& death : edge->deaths) Release(death, *by);
  }
  return true;
}

void FlowSteps::Fork(const FlowStage& stage, const FlowCall& call,
                     const Group& group) {
  ScalarsOf scalars_of(
      [this](int32_t value) { return host_->Selectors(value); });
  FindAll(*call.selector, group, &found_);
  for (size_t i = 0; i < group.size(); ++i) {
    FlowInvocation* const by = group[i];
    const ValueRow selector = found_[i];
    const size_t way = CallSite::BranchFor(
        scalars_of(selector).At(selector.row), call.branches.size());
    const FlowBranch& branch = call.branches[way];
    if (branch.decides) Decide(selector, by);
    const FlowEdge* const entry = TakeBranch(call, way, by);
    by_edge_[entry == nullptr ? stage.next.id : entry->id].push_back(by);
  }
}

bool FlowSteps::AskAll(const FlowStage& stage, const Group& group) {
  for (FlowInvocation* const by : group) {
    const auto find = [this, by](const FlowSource& source) {
      return Find(*by, source);
    };
    for (const int32_t index : stage.calls) {
      const FlowCall& call = flow_.calls[index];
      const FlowInvocation* const asked =
          Ask(*call.branches.front().ask, by, /*row=*/0, find);
      if (asked == nullptr) return false;
      by->cells()[call.cell].value = asked->id;
    }
    by->num_pending = static_cast<int32_t>(stage.calls.size());
  }
  num_gone_[stage.next.id] += static_cast<int32_t>(group.size());
  Release(stage.next.deaths, group);
  return true;
}

const FlowEdge* FlowSteps::MakeCallsOf(const FlowStage& stage,
                                       FlowInvocation* by) {
  const FlowEdge* edge = &stage.next;
  for (const int32_t index : stage.calls) {
    const FlowCall& call = flow_.calls[index];
    if (call.list.has_value()) {
      AskForItems(call, by);
      if (is_refused()) return nullptr;
      continue;
    }
    size_t way = 0;
    ValueRow selector;
    if (call.selector.has_value()) {
      selector = Find(*by, *call.selector);
      way = CallSite::BranchFor(host_->SelectorAt(selector),
                                call.branches.size());
    }
    const FlowBranch& branch = call.branches[way];
    if (branch.decides) Decide(selector, by);
    if (branch.ask.has_value()) {
      AskAt(call, branch, selector, by);
      if (is_refused()) return nullptr;
      continue;
    }
    const FlowEdge* const entry = TakeBranch(call, way, by);
    if (entry != nullptr) edge = entry;
  }
  return edge;
}

void FlowSteps::AskAt(const FlowCall& call, const FlowBranch& branch,
                      ValueRow decided_by, FlowInvocation* by) {
  const size_t num_entered = entered_.size();
  FlowInvocation* const asked =
      Ask(*branch.ask, by, /*row=*/0,
          [this, by](const FlowSource& source) { return Find(*by, source); });
  if (asked == nullptr) return;
  if (entered_.size() > num_entered) Decide(decided_by, asked);
  by->cells()[call.cell].value = asked->id;
  WaitFor(*asked, by, branch.ask->site, /*item=*/0);
}

void FlowSteps::AskForItems(const FlowCall& call, FlowInvocation* by) {
  const FlowAsk& ask = *call.branches.front().ask;
  ValueRow* const cells = by->cells();
  const int32_t count = cells[*call.list + 1].value;
  cells[call.cell] = {static_cast<int32_t>(asked_for_items_.size()), count};
  for (int32_t item = 0; item < count; ++item) {
    const auto find = [this, by, item](const FlowSource& source) {
      ValueRow row = Find(*by, source);
      if (source.is_of_item) row.row += item;
      return row;
    };
    const FlowInvocation* const asked = Ask(ask, by, item, find);
    if (asked == nullptr) return;
    asked_for_items_.push_back(asked->id);
    WaitFor(*asked, by, ask.site, item);
  }
}

void FlowSteps::WaitFor(const FlowInvocation& asked, FlowInvocation* by,
                        int32_t site, int32_t item) {
  if (!flow_.is_shared) {
    ++by->num_pending;
    return;
  }
  FlowShared& shared = shared_[asked.id];
  if (shared.has_ended) {
    by->progress = std::max(by->progress, asked.progress);
    return;
  }
  const auto added = static_cast<int32_t>(waiters_.size());
  waiters_.emplace_back(by, site, item, shared.last_waiter);
  if (shared.num_waiters < FlowShared::kFew) {
    shared.first[shared.num_waiters] = by;
  }
  ++shared.num_waiters;
  shared.last_waiter = added;
  ++by->num_pending;
}

void FlowSteps::Resume(const FlowInvocation& ended) {
  FlowShared& shared = shared_[ended.id];
  shared.has_ended = true;
  const Progress& progress = ended.progress;
  const int32_t num_first = std::min(shared.num_waiters, FlowShared::kFew);
  for (int32_t i = 0; i < num_first; ++i) {
    ResumeOne(shared.first[i], progress);
  }
  if (num_first == shared.num_waiters) return;
  for (FlowInvocation* const waits : LateWaiters(shared)) {
    ResumeOne(waits, progress);
  }
}

const FlowSteps::Group& FlowSteps::LateWaiters(const FlowShared& shared) {
  late_.resize(shared.num_waiters - FlowShared::kFew);
  int32_t at = shared.last_waiter;
  for (auto late = late_.rbegin(); late != late_.rend(); ++late) {
    *late = waiters_[at].by;
    at = waiters_[at].before;
  }
  return late_;
}

}  // namespace recursive_tf
