#ifndef RECURSIVE_TF_CC_RUNTIME_ACTIVATION_TREE_H_
#define RECURSIVE_TF_CC_RUNTIME_ACTIVATION_TREE_H_

#include <atomic>
#include <cstdint>

#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/call_count.h"

namespace recursive_tf {

// How far one root call may go. A limit of 0 is none.
struct ActivationLimits {
  bool IsTooDeep(int64_t depth) const {
    return max_depth > 0 && depth > max_depth;
  }
  // Says whether there may be no more than the `num_alive` that there are.
  bool IsReached(int64_t num_alive) const {
    return max_activations > 0 && num_alive >= max_activations;
  }

  // Says that what a root call holds may be no more.
  bool IsTooLarge(int64_t bytes) const {
    return max_bytes > 0 && bytes > max_bytes;
  }

  int64_t max_depth = 0;
  // Activations alive at once; all of them where they are kept for gradients.
  int64_t max_activations = 0;
  // Held at once, by estimate.
  int64_t max_bytes = 0;
};

// What an invocation is, before it has an activation.
struct Invocation {
  const Activation* parent;
  int32_t procedure;
  int32_t site;
  int32_t ordinal;
};

// Makes and owns the activations of one root call.
//
// Thread safety: every method may be called from any thread.
//
// Invariants:
//   (1) An activation that is entered is left once, after all its children.
//   (2) If activations are kept, they die with the tree, and one after the
//       other: never recursively, because a tree may be 10^5 levels deep.
//
// Cost: one allocation an invocation, three atomic operations, no lock.
class ActivationTree {
 public:
  enum class Verdict : uint8_t {
    kEntered,
    kTooDeep,
    kTooMany,
    kTooLarge,
    // A test planted it.
    kFault,
  };

  // `keep` holds every activation until the tree dies, because the handles of a
  // forward pass in training form are read by the backward pass.
  ActivationTree(ActivationLimits limits, bool keep)
      : limits_(limits), keep_(keep) {}
  ActivationTree(const ActivationTree&) = delete;
  ActivationTree& operator=(const ActivationTree&) = delete;

  ~ActivationTree() {
    Activation* activation = last_kept_.load(std::memory_order_acquire);
    while (activation != nullptr) {
      Activation* previous = activation->previous_kept;
      Delete(activation);
      activation = previous;
    }
  }

  // Sets `*entered` to a new activation, or to null if a limit is reached.
  // `bytes` is what is held until it is left.
  [[nodiscard]] Verdict Enter(const Invocation& invocation,
                              Activation** entered, int64_t bytes = 0) {
    *entered = nullptr;
    if (Faults::Global().Strikes(Faults::Kind::kActivation)) {
      return Verdict::kFault;
    }
    if (invocation.site != kSharedSite) {
      const Verdict verdict = Count(DepthOf(invocation), bytes);
      if (verdict != Verdict::kEntered) return verdict;
    }
    *entered = new Activation(Describe(invocation));
    census_.Add(1);
    if (keep_) Keep(*entered);
    return Verdict::kEntered;
  }

  // Returns what the activation of `invocation` would be, as a value: of one
  // that was not entered.
  Activation Describe(const Invocation& invocation) {
    return {
        invocation.parent,   invocation.procedure,
        invocation.site,     invocation.ordinal,
        DepthOf(invocation), next_id_.fetch_add(1, std::memory_order_relaxed)};
  }

  // Ends `activation`, for which `bytes` were held. It stays readable where
  // activations are kept.
  void Leave(const Activation* activation, int64_t bytes = 0) {
    const bool is_counted = activation->site != kSharedSite;
    if (keep_) {
      if (is_counted) calls_.RemoveBytes(bytes);
      return;
    }
    if (is_counted) calls_.Remove(bytes);
    Delete(activation);
  }

  // Says that so many more bytes are held beside what calls entered with.
  void Hold(int64_t bytes) {
    num_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

  const ActivationLimits& limits() const { return limits_; }
  bool keeps() const { return keep_; }
  int64_t num_alive() const { return calls_.Get().num_calls; }
  int64_t num_bytes() const {
    return calls_.Get().num_bytes + num_bytes_.load();
  }

 private:
  static int32_t DepthOf(const Invocation& invocation) {
    const Activation* parent = invocation.parent;
    const int32_t above = parent == nullptr ? 0 : parent->depth;
    return invocation.site == kSharedSite ? above : above + 1;
  }

  // Counts an invocation, if there may be one more.
  Verdict Count(int32_t depth, int64_t bytes) {
    if (limits_.IsTooDeep(depth)) return Verdict::kTooDeep;
    const CallCount::Total others = calls_.Add(bytes);
    const int64_t held = num_bytes_.load(std::memory_order_relaxed) +
                         others.num_bytes + CallCount::Rounded(bytes);
    const bool is_too_large = limits_.IsTooLarge(held);
    if (!is_too_large && !limits_.IsReached(others.num_calls)) {
      return Verdict::kEntered;
    }
    calls_.Remove(bytes);
    return is_too_large ? Verdict::kTooLarge : Verdict::kTooMany;
  }

  void Delete(const Activation* activation) const {
    delete activation;
    census_.Add(-1);
  }

  void Keep(Activation* activation) {
    activation->previous_kept = last_kept_.load(std::memory_order_relaxed);
    while (!last_kept_.compare_exchange_weak(
        activation->previous_kept, activation, std::memory_order_release,
        std::memory_order_relaxed)) {
    }
  }

  // Constant after construction.
  const ActivationLimits limits_;
  const bool keep_;
  const Census::Counter census_{Census::Kind::kActivations};

  std::atomic<uint64_t> next_id_{1};
  // Of those that are kept, all, with what those hold that have not ended.
  CallCount calls_;
  std::atomic<int64_t> num_bytes_{0};
  std::atomic<Activation*> last_kept_{nullptr};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_ACTIVATION_TREE_H_
