#ifndef RECURSIVE_TF_CC_BATCHING_WAIT_CYCLE_H_
#define RECURSIVE_TF_CC_BATCHING_WAIT_CYCLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// A call that waits for what another activation runs.
struct WaitingCall {
  // Who waits, or no activation for a row of the root call.
  int32_t caller;
  // The step of the path that stands for the front, unless that is the caller.
  std::optional<PathStep> front;
  int32_t runner;
  int64_t key;
};

// What waits for itself.
struct WaitCycle {
  // One of the calls in it.
  WaitingCall wait;
  // The key that this waits for, the one that waits for in its turn, and so on.
  // The last one waits for the first.
  std::vector<int64_t> keys;
};

// Returns a cycle of calls that wait. `parent_of` returns who made the call of
// an activation; `key_of` the key of what it runs for all, if it does.
// REQUIRES: all that goes on waits, directly or not, for what another
// activation runs.
template <typename ParentOf, typename KeyOf>
WaitCycle FindWaitCycle(const std::vector<WaitingCall>& waits,
                        const ParentOf& parent_of, const KeyOf& key_of) {
  // By activation: a wait that it, or one that it called, waits in.
  std::unordered_map<int32_t, const WaitingCall*> below;
  for (const WaitingCall& wait : waits) {
    for (int32_t id = wait.caller; id != kNoActivation; id = parent_of(id)) {
      if (!below.emplace(id, &wait).second) break;
    }
  }
  const WaitingCall* at = &waits.front();
  for (size_t i = 0; i < waits.size(); ++i) at = below.at(at->runner);
  WaitCycle cycle{*at, {}};
  do {
    const WaitingCall* const next = below.at(at->runner);
    // The keys of what runs from the runner down to who waits next.
    std::vector<int64_t> upward;
    for (int32_t id = next->caller;; id = parent_of(id)) {
      const std::optional<int64_t> key = key_of(id);
      if (key.has_value()) upward.push_back(*key);
      if (id == at->runner) break;
    }
    cycle.keys.insert(cycle.keys.end(), upward.rbegin(), upward.rend());
    at = next;
  } while (at->runner != cycle.wait.runner);
  return cycle;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_WAIT_CYCLE_H_
