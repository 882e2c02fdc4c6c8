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
  StartTables();
  if (flow_.is_shared) {
    keys_.Expect(num_rows);
    shared_.reserve(num_rows);
    waiters_.reserve(num_rows);
  }
  entered_.reserve(num_rows);
  of_rows_.reserve(num_rows);
  for (int32_t row = 0; row < num_rows; ++row) {
    const FlowInvocation* const asked =
        Ask(flow_.root, /*parent=*/nullptr, row,
            [this, row](const FlowSource& source) {
              return FindAtRoot(row, source);
            });
    if (asked == nullptr) break;
    of_rows_.push_back(asked->id);
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
  const int32_t at = table_[launch.activations.front()].stage;
  const FlowStage& stage = flow_.stages[at];
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(launch.first_value + output, launch.num_activations());
  }
  readers_.FindUnread(launch.first_value, stage.num_outputs);
  for (size_t i = 0; i < stage.list_outputs.size(); ++i) {
    PutList(launch, stage.list_outputs[i], launch.list_outputs[i].counts);
  }
  for (int32_t i = 0; i < launch.num_activations() && !is_refused(); ++i) {
    FlowInvocation& by = table_[launch.activations[i]];
    PrefetchAfter(launch.activations, i);
    by.cells[stage.cell] = {launch.first_value, launch.RowOf(i)};
    by.progress = schedule_.After(by.progress, launch.block);
    GoOn(stage, &by);
  }
  for (const RowRun& run : read_last_) readers_.Remove(run.value, run.num_rows);
  ForEachEdge(&flow_, at, [&](const FlowEdge* edge) {
    ReleaseOwn(*edge, launch.first_value);
  });
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

template <typename FindSource>
FlowInvocation* FlowSteps::Ask(const FlowAsk& ask, const FlowInvocation* parent,
                               int32_t row, const FindSource& find) {
  int64_t key = 0;
  if (ask.key.has_value()) {
    key = host_->ReadKey(find(*ask.key));
    const int32_t known = keys_.Find(key);
    if (known != kNone) return &table_[known];
  }
  FlowInvocation* const begun = Begin(ask, parent, row);
  if (begun == nullptr) return nullptr;
  if (ask.key.has_value()) {
    shared_.emplace_back(key);
    keys_.Add(key, begun->id);
  }
  for (const int32_t argument : flow_.read_arguments) {
    const ValueRow found = find(ask.arguments[argument]);
    begun->cells[argument] = found;
    readers_.Add(found);
  }
  return begun;
}

FlowInvocation* FlowSteps::Begin(const FlowAsk& ask,
                                 const FlowInvocation* parent, int32_t row) {
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
  FlowInvocation& begun = table_.Add();
  begun.call_depth = depth;
  begun.site = ask.site;
  begun.row = row;
  if (parent != nullptr) {
    begun.parent = parent->id;
    begun.progress = parent->progress;
    begun.decided_by = parent->decided_by;
  }
  entered_.push_back(begun.id);
  return &begun;
}

void FlowSteps::GoOnWithAll() {
  GoOnWithEach();
  ReleaseLookedUp();
}

void FlowSteps::GoOnWithEach() {
  for (int64_t round = 1; !is_refused(); ++round) {
    if (round % kRoundsToAsk == 0) is_cancelled_ = host_->IsCancelled();
    const bool is_entered = !entered_.empty();
    std::swap(taken_, is_entered ? entered_ : resumed_);
    if (taken_.empty()) return;
    for (size_t i = 0; i < taken_.size() && !is_refused(); ++i) {
      FlowInvocation& by = table_[taken_[i]];
      const FlowStage& stage = flow_.stages[by.stage];
      if (!is_entered) {
        Arrive(&by, stage.next.to);
      } else if (stage.block == kNoBlock || LookUp(stage, &by)) {
        GoOn(stage, &by);
      } else {
        WaitForBlock(by, stage.block);
      }
    }
    taken_.clear();
  }
}

void FlowSteps::GoOn(const FlowStage& stage, FlowInvocation* by) {
  if (!Push(stage, *by)) return;
  const FlowEdge* const edge = MakeCalls(stage, by);
  if (edge == nullptr) return;
  ++num_gone_[edge->id];
  Release(edge->deaths, *by);
  if (by->num_pending == 0) Arrive(by, edge->to);
}

void FlowSteps::Arrive(FlowInvocation* by, int32_t to) {
  while (true) {
    if (to == kEndOfFlow) {
      by = End(by);
      if (by == nullptr) return;
      to = flow_.stages[by->stage].next.to;
      continue;
    }
    const FlowStage& stage = flow_.stages[to];
    by->stage = to;
    const bool is_launched =
        stage.block != kNoBlock && tables_[stage.block].empty();
    if (is_launched) return WaitForBlock(*by, stage.block);
    if (stage.block != kNoBlock || !stage.calls.empty()) {
      return entered_.push_back(by->id);
    }
    if (!Push(stage, *by)) return;
    if (stage.returns_to != kNoCall) Hold(flow_.calls[stage.returns_to], *by);
    Release(stage.next.deaths, *by);
    to = stage.next.to;
  }
}

bool FlowSteps::Push(const FlowStage& stage, const FlowInvocation& by) {
  for (const FlowPush& push : stage.pushes) {
    if (host_->Push(push.table, Find(by, push.index), Find(by, push.value))) {
      continue;
    }
    refused_push_ = by.id;
    return false;
  }
  return true;
}

const FlowEdge* FlowSteps::MakeCalls(const FlowStage& stage,
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
      way = CallSite::BranchFor(host_->ReadSelector(selector),
                                call.branches.size());
    }
    const FlowBranch& branch = call.branches[way];
    if (branch.decides) Decide(selector, by);
    if (branch.ask.has_value()) {
      AskAt(call, branch, selector, by);
      if (is_refused()) return nullptr;
      continue;
    }
    by->cells[call.cell].value = WayOf(static_cast<int32_t>(way));
    if (branch.entry.has_value()) {
      edge = &*branch.entry;
    } else {
      Hold(call, *by);
    }
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
  by->cells[call.cell].value = asked->id;
  WaitFor(*asked, by, branch.ask->site, /*item=*/0);
}

void FlowSteps::AskForItems(const FlowCall& call, FlowInvocation* by) {
  const FlowAsk& ask = *call.branches.front().ask;
  const int32_t count = by->cells[*call.list + 1].value;
  by->cells[call.cell] = {static_cast<int32_t>(asked_for_items_.size()), count};
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
  Shared& shared = shared_[asked.id];
  if (shared.has_ended) {
    by->progress = std::max(by->progress, asked.progress);
    return;
  }
  const auto added = static_cast<int32_t>(waiters_.size());
  waiters_.emplace_back(by->id, site, item, shared.last_waiter);
  if (shared.num_waiters < Shared::kFew) {
    shared.first[shared.num_waiters] = by->id;
  }
  ++shared.num_waiters;
  shared.last_waiter = added;
  ++by->num_pending;
}

FlowInvocation* FlowSteps::End(FlowInvocation* ended) {
  for (size_t i = 0; i < flow_.results.size(); ++i) {
    table_.result(*ended, i) = Find(*ended, flow_.results[i]);
  }
  for (const int32_t i : flow_.held_results) {
    readers_.Add(table_.result(*ended, i));
  }
  Release(flow_.deaths_at_end, *ended);
  admission_.Leave();
  if (!flow_.is_shared) return Return(ended);
  Resume(*ended);
  return nullptr;
}

void FlowSteps::Resume(const FlowInvocation& ended) {
  Shared& shared = shared_[ended.id];
  shared.has_ended = true;
  const Progress& progress = ended.progress;
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

FlowInvocation* FlowSteps::Return(FlowInvocation* ended) {
  table_.FreeCallees(*ended);
  if (ended->parent == kNoActivation) return nullptr;
  FlowInvocation& caller = table_[ended->parent];
  ended->next_ended = std::exchange(caller.first_ended, ended->id);
  caller.progress = std::max(caller.progress, ended->progress);
  return --caller.num_pending == 0 ? &caller : nullptr;
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
  const bool is_of_call = source.kind == Kind::kCall;
  rows->Assign(ids.size(), [&](size_t i) {
    if (is_of_call && i + kAhead < ids.size()) {
      table_.PrefetchResults(table_.cell(ids[i + kAhead], source.cell).value);
    }
    return Find(table_[ids[i]], source);
  });
}

}  // namespace recursive_tf
