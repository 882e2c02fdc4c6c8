#ifndef RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
#define RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/memo_key.h"

namespace recursive_tf {

// What came of a shared invocation.
struct SharedRow {
  bool has_ended = false;
  MemoKey key;
  // Of the activation that ran it, and if the run is recorded.
  Progress progress;
  LaunchNodes last_nodes;
  // Where its results are: of the results of all.
  size_t first_result = 0;
  size_t num_results = 0;
  // The activations that wait for it, as a list.
  int32_t first_waiter = kNoActivation;
  int32_t last_waiter = kNoActivation;
};

// The invocations of memoized SubGraphs within one root call, in lock step: the
// counterpart of SharedInvocations (cc/runtime/shared_invocations.h). An
// activation is of a front, in which what it shares runs in place.
//
// Thread safety: none.
//
// Cost: constant for each activation. All stands in flat arrays, since a
// program may share as many invocations as it makes: a memory block for each
// took a third of a step of sequences.
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
  // new, and is one of its waiters if it will end. Sets its number.
  Verdict Ask(const MemoKey& key, int32_t id, int32_t* shared) {
    if (2 * (rows_.size() + 1) > slots_.size()) Grow();
    int32_t& slot = slots_[SlotOf(key)];
    if (slot < 0) {
      slot = static_cast<int32_t>(rows_.size());
      rows_.emplace_back().key = key;
      At(&runs_, id) = slot;
      *shared = slot;
      return Verdict::kIsNew;
    }
    *shared = slot;
    if (rows_[slot].has_ended) return Verdict::kHasEnded;
    AddWaiter(&rows_[slot], id);
    return Verdict::kWillEnd;
  }

  // Ends what activation `id` runs, and returns its number.
  int32_t End(int32_t id, const std::vector<ValueRow>& results,
              Progress progress, LaunchNodes last_nodes) {
    const int32_t number = std::exchange(runs_[id], kNone);
    SharedRow& shared = rows_[number];
    shared.has_ended = true;
    shared.progress = progress;
    shared.last_nodes = std::move(last_nodes);
    // They stay there for all that may still ask.
    shared.first_result = results_.size();
    shared.num_results = results.size();
    results_.insert(results_.end(), results.begin(), results.end());
    return number;
  }

  const SharedRow& operator[](int32_t shared) const { return rows_[shared]; }

  // REQUIRES: it has ended.
  ValueRow Result(const SharedRow& shared, size_t index) const {
    return results_[shared.first_result + index];
  }

  // Calls take(id) for each that waited, in the order in which they asked.
  // After that nobody waits.
  template <typename Take>
  void TakeWaiters(int32_t shared, const Take& take) {
    int32_t waiter = std::exchange(rows_[shared].first_waiter, kNoActivation);
    rows_[shared].last_waiter = kNoActivation;
    while (waiter != kNoActivation) {
      // It may wait for something else then.
      const int32_t next = std::exchange(next_[waiter], kNoActivation);
      take(waiter);
      waiter = next;
    }
  }

  // Returns who waits, if anybody does.
  std::vector<Wait> Waits() const {
    std::vector<Wait> waits;
    for (size_t runner = 0; runner < runs_.size(); ++runner) {
      if (runs_[runner] < 0) continue;
      const SharedRow& shared = rows_[runs_[runner]];
      for (int32_t waiter = shared.first_waiter; waiter != kNoActivation;
           waiter = next_[waiter]) {
        waits.push_back(
            {waiter, static_cast<int32_t>(runner), shared.key.number});
      }
    }
    return waits;
  }

 private:
  static constexpr int32_t kNone = -1;

  // Returns what is of an activation.
  static int32_t& At(std::vector<int32_t>* by_activation, int32_t id) {
    if (static_cast<size_t>(id) >= by_activation->size()) {
      by_activation->resize(static_cast<size_t>(id) + 1, kNone);
    }
    return (*by_activation)[id];
  }

  void AddWaiter(SharedRow* shared, int32_t id) {
    At(&next_, id) = kNoActivation;
    if (shared->first_waiter == kNoActivation) {
      shared->first_waiter = id;
    } else {
      next_[shared->last_waiter] = id;
    }
    shared->last_waiter = id;
  }

  // Returns the slot of a key, or the free one where it is to stand.
  size_t SlotOf(const MemoKey& key) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = MemoKeyHash()(key) & mask;
    while (slots_[slot] >= 0 && !(rows_[slots_[slot]].key == key)) {
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
  // Of the keys of rows, each at the place that its hash names, or one behind
  // it; more than half are free. Its size is a power of two.
  std::vector<int32_t> slots_;
  // By activation: what it runs, and who waits for the same behind it.
  std::vector<int32_t> runs_;
  std::vector<int32_t> next_;
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
