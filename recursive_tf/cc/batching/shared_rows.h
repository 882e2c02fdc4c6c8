#ifndef RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
#define RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/memo_key.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// What came of a shared invocation.
struct SharedRow {
  bool has_ended = false;
  MemoKey key;
  // Of the activation that ran it.
  Progress progress;
  // Where its results are: of the results of all.
  size_t first_result = 0;
  size_t num_results = 0;
  // The calls that wait for it, as a list.
  int32_t first_waiter = -1;
  int32_t last_waiter = -1;
};

// Where the results of a call go.
struct ResultSlots {
  int32_t caller = kNoActivation;
  // The slot of the caller that gets the first one.
  int32_t first_result = 0;
  // Which item of these, if the call is of a map.
  int32_t row = 0;
};

// The invocations of memoized SubGraphs within one root call, in lock step: the
// counterpart of SharedInvocations (cc/runtime/shared_invocations.h). What is
// shared runs in place in the activation of a front.
//
// Thread safety: none.
//
// Cost: constant for each call. All stands in flat arrays, since a program may
// share as many invocations as it makes: a memory block for each took a third
// of a step of sequences.
class SharedRows {
 public:
  // Who asks for a key: a front, or who calls one and asks in its place
  // (pass_through.h).
  struct Asker {
    ResultSlots to;
    // The step of the path that stands for the front, unless that asks itself.
    std::optional<PathStep> front;
  };

  // A call that waits for what another activation runs.
  struct Wait {
    Asker asker;
    int32_t runner;
    int64_t key;
  };

  // Returns the number of what has the key; none if nobody asked for it.
  int32_t Find(const MemoKey& key) const {
    return slots_.empty() ? kNone : slots_[SlotOf(key)];
  }

  // Says that an activation runs what has the key. REQUIRES: nobody does.
  void Begin(const MemoKey& key, int32_t id) {
    if (2 * (rows_.size() + 1) > slots_.size()) Grow();
    slots_[SlotOf(key)] = static_cast<int32_t>(rows_.size());
    if (static_cast<size_t>(id) >= runs_.size()) {
      runs_.resize(static_cast<size_t>(id) + 1, kNone);
    }
    runs_[id] = static_cast<int32_t>(rows_.size());
    rows_.emplace_back().key = key;
  }

  bool Runs(int32_t id) const {
    return static_cast<size_t>(id) < runs_.size() && runs_[id] != kNone;
  }

  // Says that a call waits. REQUIRES: what it asked for has not ended.
  void WaitFor(int32_t shared, const Asker& asker) {
    int32_t added = std::exchange(free_waiter_, kNone);
    if (added == kNone) {
      added = static_cast<int32_t>(waiters_.size());
      waiters_.emplace_back();
    } else {
      free_waiter_ = waiters_[added].next;
    }
    waiters_[added] = {asker, kNone};
    SharedRow& row = rows_[shared];
    if (row.first_waiter == kNone) {
      row.first_waiter = added;
    } else {
      waiters_[row.last_waiter].next = added;
    }
    row.last_waiter = added;
  }

  // Ends what activation `id` runs, and returns its number.
  int32_t End(int32_t id, const std::vector<ValueRow>& results,
              Progress progress, LaunchNodes last_nodes) {
    const int32_t number = std::exchange(runs_[id], kNone);
    SharedRow& shared = rows_[number];
    shared.has_ended = true;
    shared.progress = progress;
    if (!last_nodes.empty()) {
      last_nodes_.resize(rows_.size());
      last_nodes_[number] = std::move(last_nodes);
    }
    // They stay there for all that may still ask.
    shared.first_result = results_.size();
    shared.num_results = results.size();
    results_.insert(results_.end(), results.begin(), results.end());
    return number;
  }

  const SharedRow& operator[](int32_t shared) const { return rows_[shared]; }

  // Returns what the activation that ran it waited for, if the run is recorded.
  // REQUIRES: it has ended.
  LaunchNodes last_nodes(int32_t shared) const {
    const auto index = static_cast<size_t>(shared);
    return index < last_nodes_.size() ? last_nodes_[index] : LaunchNodes();
  }

  // REQUIRES: it has ended.
  ValueRow Result(const SharedRow& shared, size_t index) const {
    return results_[shared.first_result + index];
  }

  // Calls take(slots) for each that waited, in the order in which they asked.
  // After that nobody waits. REQUIRES: `take` makes nobody wait.
  template <typename Take>
  void TakeWaiters(int32_t shared, const Take& take) {
    SharedRow& row = rows_[shared];
    const int32_t first = std::exchange(row.first_waiter, kNone);
    if (first == kNone) return;
    for (int32_t at = first; at != kNone; at = waiters_[at].next) {
      take(waiters_[at].asker.to);
    }
    waiters_[std::exchange(row.last_waiter, kNone)].next = free_waiter_;
    free_waiter_ = first;
  }

  // What waits for itself.
  struct Cycle {
    // One of the calls in it.
    Wait wait;
    // The key that this waits for, the one that waits for in its turn, and so
    // on. The last one waits for the first.
    std::vector<int64_t> keys;
  };

  // Returns a cycle of calls that wait. REQUIRES: all that goes on waits,
  // directly or not, for what another activation runs.
  Cycle FindCycle(const ActivationTable& activations) const {
    const std::vector<Wait> waits = Waits();
    // By activation: a wait that it, or one that it called, waits in.
    std::unordered_map<int32_t, const Wait*> below;
    for (const Wait& wait : waits) {
      for (int32_t id = wait.asker.to.caller; id != kNoActivation;
           id = activations[id].parent) {
        if (!below.emplace(id, &wait).second) break;
      }
    }
    const Wait* at = &waits.front();
    for (size_t i = 0; i < waits.size(); ++i) at = below.at(at->runner);
    Cycle cycle{*at, {}};
    do {
      const Wait* const next = below.at(at->runner);
      AddKeysBetween(at->runner, next->asker.to.caller, activations,
                     &cycle.keys);
      at = next;
    } while (at->runner != cycle.wait.runner);
    return cycle;
  }

 private:
  static constexpr int32_t kNone = -1;

  struct Waiter {
    Asker asker;
    // Behind it, for the same; or which place is free, too.
    int32_t next = kNone;
  };

  // Adds the keys of what runs from `above` down to `below`, which it called.
  void AddKeysBetween(int32_t above, int32_t below,
                      const ActivationTable& activations,
                      std::vector<int64_t>* keys) const {
    std::vector<int64_t> upward;
    for (int32_t id = below;; id = activations[id].parent) {
      if (Runs(id)) upward.push_back(rows_[runs_[id]].key.number);
      if (id == above) break;
    }
    keys->insert(keys->end(), upward.rbegin(), upward.rend());
  }

  // Returns who waits, if anybody does.
  std::vector<Wait> Waits() const {
    std::vector<Wait> waits;
    for (size_t runner = 0; runner < runs_.size(); ++runner) {
      if (runs_[runner] == kNone) continue;
      const SharedRow& shared = rows_[runs_[runner]];
      for (int32_t at = shared.first_waiter; at != kNone;
           at = waiters_[at].next) {
        waits.push_back({waiters_[at].asker, static_cast<int32_t>(runner),
                         shared.key.number});
      }
    }
    return waits;
  }

  // Returns the slot of a key, or the free one where it is to stand.
  size_t SlotOf(const MemoKey& key) const {
    // Keys are mostly numbers in a row: those of one cache line stay together.
    constexpr int kBits = 4;
    const MemoKey line{key.procedure, key.number >> kBits};
    const size_t in_line = key.number & ((1 << kBits) - 1);
    const size_t mask = slots_.size() - 1;
    size_t slot = ((MemoKeyHash()(line) << kBits) | in_line) & mask;
    while (slots_[slot] != kNone && !(rows_[slots_[slot]].key == key)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void Grow() {
    constexpr size_t kFewest = 16;
    slots_.assign(slots_.empty() ? kFewest : 2 * slots_.size(), kNone);
    for (size_t i = 0; i < rows_.size(); ++i) {
      slots_[SlotOf(rows_[i].key)] = static_cast<int32_t>(i);
    }
  }

  std::vector<SharedRow> rows_;
  std::vector<ValueRow> results_;
  // By number, if the run is recorded.
  std::vector<LaunchNodes> last_nodes_;
  // Of the keys of rows, each at the place that its hash names, or one behind
  // it; more than half are free. Its size is a power of two.
  std::vector<int32_t> slots_;
  // By activation: what it runs.
  std::vector<int32_t> runs_;
  std::vector<Waiter> waiters_;
  int32_t free_waiter_ = kNone;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
