#ifndef RECURSIVE_TF_CC_BACKPROP_CAPTURE_GRADIENTS_H_
#define RECURSIVE_TF_CC_BACKPROP_CAPTURE_GRADIENTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Gathers what the activations of a backward pass contribute to the gradients
// of captures, so that these never travel through activations.
//
// A slot belongs to one place in the program where a capture is used. Its
// contributions are either collected (the factors of a product, the rows of an
// embedding's gradient: the root concatenates them and multiplies once) or
// added up as they come.
//
// Thread safety: Add may be called from any thread; Take only after the last
// Add has returned.
//
// Cost: one lock a contribution, and an addition in a summed slot.
//
// A Status says in ok() whether all went well, as it does if made from nothing.
template <typename Tensor, typename Status>
class CaptureGradients {
 public:
  enum class Kind : uint8_t { kCollected, kSummed };
  using Contribution = std::vector<Tensor>;
  // Adds `value` to `*total`, whose memory it may reuse.
  using Adder = Status (*)(const Tensor& value, Tensor* total);

  CaptureGradients(const std::vector<Kind>& kinds, Adder adder)
      : adder_(adder) {
    slots_.reserve(kinds.size());
    for (Kind kind : kinds) slots_.push_back(std::make_unique<Slot>(kind));
  }

  // Returns what went wrong, if contributions cannot be added up.
  Status Add(size_t slot_index, Contribution contribution) {
    Slot& slot = *slots_[slot_index];
    MutexLock lock(&slot.mu);
    if (slot.kind == Kind::kCollected || slot.contributions.empty()) {
      slot.contributions.push_back(std::move(contribution));
      return Status();
    }
    Contribution& total = slot.contributions.front();
    for (size_t i = 0; i < total.size(); ++i) {
      Status status = adder_(contribution[i], &total[i]);
      if (!status.ok()) return status;
    }
    return Status();
  }

  // Removes and returns the contributions of a slot: all of a collected one, at
  // most one, the sum, of a summed one.
  std::vector<Contribution> Take(size_t slot_index) {
    Slot& slot = *slots_[slot_index];
    MutexLock lock(&slot.mu);
    return std::move(slot.contributions);
  }

  size_t num_slots() const { return slots_.size(); }

 private:
  struct Slot {
    explicit Slot(Kind kind) : kind(kind) {}

    const Kind kind;
    Mutex mu;
    std::vector<Contribution> contributions ABSL_GUARDED_BY(mu);
  };

  // Constant after construction.
  const Adder adder_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BACKPROP_CAPTURE_GRADIENTS_H_
