#include "recursive_tf/cc/batching/flow_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_shared.h"
#include "recursive_tf/cc/batching/flow_table.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

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
    const FlowInvocation* const asked = AskAtRoot(row);
    if (asked == nullptr) break;
    of_rows_.push_back(asked->id);
  }
  readers_.FindUnread(first_argument_, num_arguments);
  GoOnWithAll();
}

bool FlowSteps::Next(Launch* launch) {
  if (is_refused() || schedule_.empty()) return false;
  launch->block = schedule_.TakeNext(&launch->activations);
  launched_.resize(launch->activations.size());
  std::transform(launch->activations.begin(), launch->activations.end(),
                 launched_.begin(), [this](int32_t id) { return table_[id]; });
  const FlowStage& stage = flow_.stages[launched_.front()->stage];
  launch->inputs.resize(stage.inputs.size());
  launch->list_inputs.clear();
  launch->list_outputs.clear();
  launch->shared = EqualRows();
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    JoinedRows& joined = launch->inputs[i];
    joined.resize(stage.inputs[i].size());
    if (stage.IsListInput(i)) continue;
    for (size_t part = 0; part < joined.size(); ++part) {
      FindRows(stage.inputs[i][part], &joined[part]);
    }
  }
  for (const FlowListInput& list : stage.list_inputs) {
    FindItems(stage.inputs[list.input].front(), list, launch);
  }
  for (const auto& [input, part] : stage.last_reads) {
    for (const RowRun& run : launch->inputs[input][part].runs()) {
      ReadLast(run.value, run.num_rows);
    }
  }
  launch->first_value = readers_.AddValues(stage.num_outputs);
  for (const FlowListOutput& list : stage.list_outputs) {
    FindCounts(list, launched_.front()->stage, launch);
  }
  return true;
}

void FlowSteps::Complete(const Launch& launch) {
  const int32_t at = launched_.front()->stage;
  const FlowStage& stage = flow_.stages[at];
  for (const int32_t output : stage.read_outputs) {
    readers_.Add(launch.first_value + output, launch.num_activations());
  }
  readers_.FindUnread(launch.first_value, stage.num_outputs);
  for (size_t i = 0; i < stage.list_outputs.size(); ++i) {
    PutList(launch, stage.list_outputs[i], launch.list_outputs[i].counts);
  }
  for (int32_t i = 0; i < launch.num_activations(); ++i) {
    FlowInvocation& by = *launched_[i];
    by.cells()[stage.cell] = {launch.first_value, launch.RowOf(i)};
    by.progress = schedule_.After(by.progress, launch.block);
  }
  GoOn(at, launched_);
  EndLastReads();
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
  const size_t bytes = shared_.size() * sizeof(FlowShared) +
                       waiters_.size() * sizeof(FlowWaiter) +
                       asked_for_items_.size() * sizeof(int32_t);
  // With what growing arrays take at most.
  return table_.num_bytes() + static_cast<int64_t>(2 * bytes);
}

void FlowSteps::GoOnWithAll() {
  GoOnWithEach();
  ReleaseLookedUp();
}

void FlowSteps::GoOnWithEach() {
  CancellationCheck check(host_);
  while (!is_refused()) {
    // Who goes on may end, and makes room.
    const bool is_resumed = !resumed_.empty();
    std::swap(taken_, is_resumed ? resumed_ : entered_);
    if (taken_.empty()) return;
    is_cancelled_ = check.IsCancelledAfter(taken_.size());
    for (size_t begin = 0; begin < taken_.size() && !is_refused();) {
      const int32_t at = TakeGroup(&begin);
      const FlowStage& stage = flow_.stages[at];
      if (is_resumed) {
        Arrive(group_, stage.next.to);
        continue;
      }
      if (IsLaunched(stage)) {
        WaitForBlock(group_, stage.block);
        continue;
      }
      if (stage.block != kNoBlock) LookUp(stage, &group_);
      GoOn(at, group_);
      EndLastReads();
    }
    taken_.clear();
  }
}

int32_t FlowSteps::TakeGroup(size_t* begin) {
  const auto first = taken_.begin() + static_cast<ptrdiff_t>(*begin);
  const int32_t stage = (*first)->stage;
  const auto last = std::find_if(
      first, taken_.end(),
      [stage](const FlowInvocation* by) { return by->stage != stage; });
  group_.assign(first, last);
  *begin = last - taken_.begin();
  return stage;
}

void FlowSteps::EndLastReads() {
  for (const auto& [value, count] : read_last_) readers_.Remove(value, count);
  read_last_.clear();
}

void FlowSteps::GoOn(int32_t at, const Group& group) {
  const FlowStage& stage = flow_.stages[at];
  if (!Push(stage, group)) return;
  if (stage.calls.empty()) return Leave(stage.next, group);
  if (!MakeCalls(stage, group)) return;
  ForEachEdge(&flow_, at, [this](const FlowEdge* edge) {
    Group& leaving = by_edge_[edge->id];
    Leave(*edge, leaving);
    leaving.clear();
  });
}

void FlowSteps::Leave(const FlowEdge& edge, const Group& group) {
  if (group.empty() || is_refused()) return;
  num_gone_[edge.id] += static_cast<int32_t>(group.size());
  Release(edge.deaths, group);
  Arrive(group, edge.to);
}

void FlowSteps::Arrive(const Group& group, int32_t to) {
  while (to != kEndOfFlow) {
    const FlowStage& stage = flow_.stages[to];
    if (stage.block != kNoBlock || !stage.calls.empty()) {
      for (FlowInvocation* const by : group) by->stage = to;
      if (IsLaunched(stage)) return WaitForBlock(group, stage.block);
      entered_.insert(entered_.end(), group.begin(), group.end());
      return;
    }
    if (!Push(stage, group)) return;
    if (stage.returns_to != kNoCall) {
      const FlowCall& call = flow_.calls[stage.returns_to];
      for (const FlowInvocation* const by : group) Hold(call, *by);
    }
    Release(stage.next.deaths, group);
    to = stage.next.to;
  }
  End(group);
}

bool FlowSteps::Push(const FlowStage& stage, const Group& group) {
  for (const FlowPush& push : stage.pushes) {
    FindAll(push.index, group, &indices_);
    FindAll(push.value, group, &found_);
    const size_t num_pushed =
        host_->Push(push.table, indices_.data(), found_.data(), group.size());
    if (num_pushed == group.size()) continue;
    refused_push_ = group[num_pushed]->id;
    return false;
  }
  return true;
}

void FlowSteps::End(const Group& ended) {
  for (size_t i = 0; i < flow_.results.size(); ++i) {
    FindAll(flow_.results[i], ended, &found_);
    for (size_t at = 0; at < ended.size(); ++at) {
      table_.result(ended[at], i) = found_[at];
    }
  }
  for (const int32_t i : flow_.held_results) {
    for (FlowInvocation* const by : ended) readers_.Add(table_.result(by, i));
  }
  Release(flow_.deaths_at_end, ended);
  admission_.Leave(static_cast<int64_t>(ended.size()));
  for (size_t i = 0; i < ended.size(); ++i) {
    PrefetchAfter(ended, i);
    if (flow_.is_shared) {
      Resume(*ended[i]);
    } else {
      Return(ended[i]);
    }
  }
}

void FlowSteps::Return(FlowInvocation* ended) {
  table_.FreeCallees(*ended);
  FlowInvocation* const caller = ended->parent;
  if (caller == nullptr) return;
  ended->next_ended = std::exchange(caller->first_ended, ended);
  ResumeOne(caller, ended->progress);
}

void FlowSteps::ReleaseOwn(const FlowEdge& edge, int32_t first_value) {
  const int32_t count = std::exchange(num_gone_[edge.id], 0);
  if (count == 0) return;
  for (const int32_t output : edge.own_deaths) {
    readers_.Remove(first_value + output, count);
  }
}

void FlowSteps::FindRows(const FlowSource& source, Rows* rows) {
  FindAll(source, launched_, &found_);
  rows->Assign(launched_.size(), [this](size_t i) { return found_[i]; });
}

void FlowSteps::FindAll(const FlowSource& source, const Group& group,
                        std::vector<ValueRow>* found) const {
  if (found->size() < group.size()) found->resize(group.size());
  switch (source.kind) {
    case Kind::kCell:
      for (size_t i = 0; i < group.size(); ++i) {
        (*found)[i] = RowAt(source, *group[i]);
      }
      return;
    case Kind::kCall:
      return FindResults(source, group, found);
    default:
      std::fill_n(found->begin(), group.size(), ValueRow{source.index, 0});
  }
}

void FlowSteps::FindResults(const FlowSource& source, const Group& group,
                            std::vector<ValueRow>* found) const {
  const FlowCall& call = flow_.calls[source.of];
  // Where those find it who went the same way as the one before.
  int32_t way = 0;
  const FlowSource* in_branch = nullptr;
  for (size_t i = 0; i < group.size(); ++i) {
    if (i + kAhead < group.size()) {
      const FlowInvocation& later = *group[i + kAhead];
      table_.PrefetchResults(later.cells()[source.cell].value);
    }
    const FlowInvocation& by = *group[i];
    const int32_t to = by.cells()[source.cell].value;
    if (to >= 0) {
      (*found)[i] = table_.result(to, source.index);
      continue;
    }
    if (to != way) in_branch = &call.ResultOf(to, source.index);
    way = to;
    (*found)[i] = in_branch->kind == Kind::kCell ? RowAt(*in_branch, by)
                                                 : Find(by, *in_branch);
  }
}

}  // namespace recursive_tf
