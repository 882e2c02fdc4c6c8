#ifndef RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
#define RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/key_table.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
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

  // Says that about so many invocations will be shared.
  void Expect(size_t count) { expected_ = count; }

  // Returns the number of what has the key; none if nobody asked for it.
  int32_t Find(const MemoKey& key) const {
    const auto procedure = static_cast<size_t>(key.procedure);
    return procedure < numbers_.size() ? numbers_[procedure].Find(key.number)
                                       : kNone;
  }

  // Says that an activation runs what has the key. REQUIRES: nobody does.
  void Begin(const MemoKey& key, int32_t id) {
    const auto number = static_cast<int32_t>(rows_.size());
    NumbersOf(key.procedure).Add(key.number, number);
    if (static_cast<size_t>(id) >= runs_.size()) {
      runs_.resize(static_cast<size_t>(id) + 1, kNone);
    }
    runs_[id] = number;
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

  // Returns a cycle of calls that wait. REQUIRES: all that goes on waits,
  // directly or not, for what another activation runs.
  WaitCycle FindCycle(const ActivationTable& activations) const {
    return FindWaitCycle(
        Waits(), [&](int32_t id) { return activations[id].parent; },
        [this](int32_t id) -> std::optional<int64_t> {
          if (!Runs(id)) return std::nullopt;
          return rows_[runs_[id]].key.number;
        });
  }

 private:
  static constexpr int32_t kNone = -1;

  struct Waiter {
    Asker asker;
    // Behind it, for the same; or which place is free, too.
    int32_t next = kNone;
  };

  KeyTable& NumbersOf(int32_t procedure) {
    const auto index = static_cast<size_t>(procedure);
    while (numbers_.size() <= index) numbers_.emplace_back().Expect(expected_);
    return numbers_[index];
  }

  // Returns who waits, if anybody does.
  std::vector<WaitingCall> Waits() const {
    std::vector<WaitingCall> waits;
    for (size_t runner = 0; runner < runs_.size(); ++runner) {
      if (runs_[runner] == kNone) continue;
      const SharedRow& shared = rows_[runs_[runner]];
      for (int32_t at = shared.first_waiter; at != kNone;
           at = waiters_[at].next) {
        const Asker& asker = waiters_[at].asker;
        waits.push_back({asker.to.caller, asker.front,
                         static_cast<int32_t>(runner), shared.key.number});
      }
    }
    return waits;
  }

  PooledVector<SharedRow> rows_;
  PooledVector<ValueRow> results_;
  // By number, if the run is recorded.
  std::vector<LaunchNodes> last_nodes_;
  // By procedure: of keys, the numbers of their rows.
  std::vector<KeyTable> numbers_;
  size_t expected_ = 0;
  // By activation: what it runs.
  PooledVector<int32_t> runs_;
  PooledVector<Waiter> waiters_;
  int32_t free_waiter_ = kNone;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SHARED_ROWS_H_
