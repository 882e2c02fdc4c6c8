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

void Calls::Share(const CallSite& call, Source number, int32_t id) {
  const Branch& body = call.branches.front();
  const MemoKey key{body.procedure,
                    host_->ReadKey(activations_.Find(id, number))};
  int32_t shared = 0;
  const SharedRows::Verdict verdict = shared_.Ask(key, id, &shared);
  if (verdict == SharedRows::Verdict::kIsNew) return GoTo(body, id);
  activations_.EndReads(id, activations_[id].stage);
  if (verdict == SharedRows::Verdict::kWillEnd) return;
  TakeShared(shared_[shared], call.first_result, id);
  EndStage(id);
}

void Calls::TakeShared(const SharedRow& shared, int32_t first_result,
                       int32_t id) {
  for (size_t i = 0; i < shared.num_results; ++i) {
    activations_.Put(id, first_result + static_cast<int32_t>(i),
                     shared_.Result(shared, i));
  }
  Progress& progress = activations_[id].progress;
  progress = std::max(progress, shared.progress);
  if (recorder_ != nullptr) recorder_->Join(id, shared.last_nodes);
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
  shared_.TakeWaiters(shared, [&](int32_t waiter) {
    TakeShared(shared_[shared], home.first_result, waiter);
    resumed_.push_back(waiter);
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

}  // namespace recursive_tf
