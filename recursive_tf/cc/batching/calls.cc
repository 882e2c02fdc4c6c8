#include "recursive_tf/cc/batching/calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/shared_rows.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/memo_key.h"

namespace recursive_tf {

void Calls::Start(int32_t num_rows, int32_t first_argument) {
  first_argument_ = first_argument;
  results_.resize(num_rows * plan_.procedures.front().outputs.size());
  const CallSite& call = pass_through_.root_call();
  shared_.Expect(num_rows);
  for (int32_t row = 0; row < num_rows && !is_refused(); ++row) {
    const ResultSlots to{kNoActivation, /*first_result=*/0, row};
    MakeOne(to, call, call.branches.front(), /*selector=*/std::nullopt);
  }
}

std::vector<Rows> Calls::Results() const {
  std::vector<Rows> columns(plan_.procedures.front().outputs.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    columns[i % columns.size()].Add(results_[i]);
  }
  return columns;
}

std::optional<WaitCycle> Calls::FindCycle() const {
  if (activations_.table().num_alive() == 0) return std::nullopt;
  return shared_.FindCycle(activations_.table());
}

void Calls::Share(const CallSite& call, Source number, int32_t id) {
  const Branch& body = call.branches.front();
  const MemoKey key{body.procedure,
                    host_->KeyAt(activations_.Find(id, number))};
  const int32_t shared = shared_.Find(key);
  if (shared < 0) {
    shared_.Begin(key, id);
    return GoTo(body, id);
  }
  activations_.EndReads(id, activations_[id].stage);
  activations_[id].num_pending = 1;
  if (AskFor(shared, {{id, call.first_result, /*row=*/0}, {}})) return;
  EndStage(id);
}

bool Calls::MakeShared(const ResultSlots& to, const CallSite& call,
                       const Branch& branch,
                       const std::optional<Source>& selector) {
  const PassThrough::Procedure& front = pass_through_[branch.procedure];
  const MemoKey key{
      front.body->procedure,
      host_->KeyAt(ArgumentFor(to, call, branch, front.key_argument))};
  const int32_t shared = shared_.Find(key);
  if (shared >= 0) {
    return AskFor(shared, {to, {{branch.procedure, call.site, to.row}}});
  }
  const int32_t id = EnterFor(to, call, branch, selector);
  if (id == kNoActivation) return false;
  shared_.Begin(key, id);
  // The front itself reads none of its arguments.
  const int32_t num_slots = plan_.procedures[branch.procedure].num_slots;
  for (size_t i = 0; i < front.body->arguments.size(); ++i) {
    const Source source = front.body->arguments[i];
    activations_.PutAt(
        id, num_slots, front.body->procedure, static_cast<int32_t>(i),
        source.of_prologue() ? activations_.Find(id, source)
                             : ArgumentFor(to, call, branch, source.slot));
  }
  GoInto(*front.body, id);
  return true;
}

bool Calls::AskFor(int32_t shared, const SharedRows::Asker& asker) {
  if (shared_[shared].has_ended) {
    TakeShared(shared, asker.to);
    return false;
  }
  shared_.WaitFor(shared, asker);
  return true;
}

void Calls::TakeShared(int32_t shared, const ResultSlots& to) {
  const SharedRow& row = shared_[shared];
  for (size_t i = 0; i < row.num_results; ++i) {
    PutResult(to, i, shared_.Result(row, i));
  }
  if (to.caller == kNoActivation) return;
  Progress& progress = activations_[to.caller].progress;
  progress = std::max(progress, row.progress);
  if (recorder_ != nullptr) {
    recorder_->Join(to.caller, shared_.last_nodes(shared));
  }
}

void Calls::EndShared(int32_t id, const InPlace::Home& home,
                      size_t num_results) {
  results_to_share_.clear();
  for (size_t i = 0; i < num_results; ++i) {
    const auto slot = home.first_result + static_cast<int32_t>(i);
    results_to_share_.push_back(activations_.Find(id, Source::Slot(slot)));
    // For those that will ask, as long as the run lasts.
    if (activations_.IsRead(id, slot)) {
      activations_.Keep(results_to_share_.back());
    }
  }
  const int32_t shared =
      shared_.End(id, results_to_share_, activations_[id].progress,
                  recorder_ == nullptr ? LaunchNodes() : recorder_->last(id));
  shared_.TakeWaiters(shared, [&](const ResultSlots& to) {
    TakeShared(shared, to);
    if (to.caller == kNoActivation) return;
    if (--activations_[to.caller].num_pending == 0) {
      resumed_.push_back(to.caller);
    }
  });
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
  int32_t num_made = 0;
  for (int32_t row = 0; row < count && !is_refused(); ++row) {
    const ResultSlots to{caller, call.first_result, row};
    num_made += MakeOne(to, call, branch, call.selector) ? 1 : 0;
  }
  return num_made;
}

}  // namespace recursive_tf
