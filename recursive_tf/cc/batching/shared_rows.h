#ifndef RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
#define RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/memo_key.h"

namespace recursive_tf {

// What came of a shared invocation, or who waits for it.
struct SharedRow {
  bool has_ended = false;
  // Where its results are. They stay there for all that may still ask.
  std::vector<ValueRow> results;
  // Of the activation that ran it, and if the run is recorded.
  Progress progress;
  LaunchNodes last_nodes;
  // The activations that wait for it.
  std::vector<int32_t> waiters;
};

// The invocations of memoized SubGraphs within one root call, in lock step: the
// counterpart of SharedInvocations (cc/runtime/shared_invocations.h). An
// activation is of a front, in which what it shares runs in place.
class SharedRows {
 public:
  enum class Verdict : uint8_t { kIsNew, kWillEnd, kHasEnded };

  // An activation that waits for what another one runs.
  struct Wait {
    int32_t waiter;
    int32_t runner;
    int64_t key;
  };

  // Asks for what has the key, for an activation: that must run it if it is
  // new, and is one of its waiters if it will end.
  Verdict Ask(const MemoKey& key, int32_t id, const SharedRow** shared) {
    const auto [found, is_new] = by_key_.try_emplace(key);
    *shared = &found->second;
    if (found->second.has_ended) return Verdict::kHasEnded;
    if (!is_new) {
      found->second.waiters.push_back(id);
      return Verdict::kWillEnd;
    }
    runs_.emplace(id, &*found);
    return Verdict::kIsNew;
  }

  // Ends what activation `id` runs. Returns it, and who waited.
  const SharedRow& End(int32_t id, std::vector<ValueRow> results,
                       Progress progress, LaunchNodes last_nodes,
                       std::vector<int32_t>* waiters) {
    const auto running = runs_.find(id);
    SharedRow& shared = running->second->second;
    runs_.erase(running);
    shared.has_ended = true;
    shared.results = std::move(results);
    shared.progress = progress;
    shared.last_nodes = std::move(last_nodes);
    *waiters = std::exchange(shared.waiters, {});
    return shared;
  }

  // Returns who waits, if anybody does.
  std::vector<Wait> Waits() const {
    std::vector<Wait> waits;
    for (const auto& [runner, entry] : runs_) {
      for (const int32_t waiter : entry->second.waiters) {
        waits.push_back({waiter, runner, entry->first.number});
      }
    }
    return waits;
  }

 private:
  using Table = std::unordered_map<MemoKey, SharedRow, MemoKeyHash>;

  Table by_key_;
  // What activations run, by the activation.
  std::unordered_map<int32_t, Table::value_type*> runs_;
};

// Returns one of `waits` that is in a cycle.
// REQUIRES: all that goes on waits, directly or not, for a runner of these.
inline SharedRows::Wait FindCycle(const std::vector<SharedRows::Wait>& waits,
                                  const ActivationTable& activations) {
  // By activation: a wait that it, or one that it called, waits in.
  std::unordered_map<int32_t, const SharedRows::Wait*> below;
  for (const SharedRows::Wait& wait : waits) {
    for (int32_t id = wait.waiter; id != kNoActivation;
         id = activations[id].parent) {
      if (!below.emplace(id, &wait).second) break;
    }
  }
  const SharedRows::Wait* at = &waits.front();
  for (size_t i = 0; i < waits.size(); ++i) at = below.at(at->runner);
  return *at;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
