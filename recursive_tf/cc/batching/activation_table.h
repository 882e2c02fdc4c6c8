#ifndef RECURSIVE_TF_CC_BATCHING_ACTIVATION_TABLE_H_
#define RECURSIVE_TF_CC_BATCHING_ACTIVATION_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

constexpr int32_t kNoActivation = -1;

// How far the work is that an activation waits for or has done: the rank of its
// last block, and how many launches of that rank came one after the other.
struct Progress {
  friend bool operator<(const Progress& a, const Progress& b) {
    return std::tie(a.rank, a.depth) < std::tie(b.rank, b.depth);
  }

  int32_t rank = -1;
  int32_t depth = 0;
};

// The run-time state of an invocation while it is in flight, or of a branch
// that it takes and that does not run in place. Its values stand in the table's
// slots.
struct BatchedActivation {
  // What it is in: its own, or a branch that runs in place (in_place.h).
  int32_t procedure = 0;
  int32_t parent = kNoActivation;
  // Where the parent made it, and the slot that gets its first result.
  int32_t site = 0;
  int32_t first_result = 0;
  // The row of the root call, for an activation without a parent, or of a map.
  int32_t row = 0;
  int32_t stage = 0;
  // How many of the stage's calls have not returned.
  int32_t num_pending = 0;
  // Of invocations: a branch has that of the invocation that takes it.
  int32_t call_depth = 1;
  Progress progress;
  // The last value that decided that it got where it is; none at first.
  ValueRow decided_by;
  // Of the procedure that it is in.
  size_t first_slot = 0;
};

// The activations of one root call in flat arrays. The place of one that ended
// is given to the next of the same procedure: nothing is allocated for it.
//
// References and slots are valid until the next Add.
class ActivationTable {
 public:
  // Takes how many slots an activation of each procedure has.
  explicit ActivationTable(std::vector<int32_t> num_slots)
      : num_slots_(std::move(num_slots)), free_(num_slots_.size()) {}

  // Returns the id of a new activation of `procedure`, with empty slots.
  int32_t Add(int32_t procedure) {
    num_alive_ += 1;
    max_alive_ = std::max(max_alive_, num_alive_);
    BatchedActivation added;
    added.procedure = procedure;
    std::vector<int32_t>& free = free_[procedure];
    if (!free.empty()) {
      const int32_t id = free.back();
      free.pop_back();
      added.first_slot = activations_[id].first_slot;
      activations_[id] = added;
      return id;
    }
    added.first_slot = slots_.size();
    slots_.resize(slots_.size() + num_slots_[procedure]);
    activations_.push_back(added);
    return static_cast<int32_t>(activations_.size()) - 1;
  }

  // REQUIRES: its slots are empty, and it is in its own procedure.
  void Remove(int32_t id) {
    num_alive_ -= 1;
    free_[activations_[id].procedure].push_back(id);
  }

  BatchedActivation& operator[](int32_t id) { return activations_[id]; }
  const BatchedActivation& operator[](int32_t id) const {
    return activations_[id];
  }

  ValueRow& slot(int32_t id, int32_t index) {
    return slots_[activations_[id].first_slot + index];
  }

  // Says that the callers of what comes after `ids[i]` are needed soon: they
  // are spread over more memory than caches hold.
  void PrefetchParentAfter(const std::vector<int32_t>& ids, size_t i) const {
    constexpr size_t kAhead = 8;
    if (i + kAhead >= ids.size()) return;
    const int32_t parent = activations_[ids[i + kAhead]].parent;
    if (parent == kNoActivation) return;
    __builtin_prefetch(&activations_[parent]);
    __builtin_prefetch(&slots_[activations_[parent].first_slot]);
  }

  int64_t num_alive() const { return num_alive_; }
  // With what growing arrays take at most.
  int64_t num_bytes() const {
    return static_cast<int64_t>(
        2 * (activations_.size() * sizeof(BatchedActivation) +
             slots_.size() * sizeof(ValueRow)));
  }
  int64_t max_alive() const { return max_alive_; }

 private:
  std::vector<int32_t> num_slots_;
  PooledVector<BatchedActivation> activations_;
  PooledVector<ValueRow> slots_;
  // By procedure.
  std::vector<std::vector<int32_t>> free_;
  int64_t num_alive_ = 0;
  int64_t max_alive_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ACTIVATION_TABLE_H_
