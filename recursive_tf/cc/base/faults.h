#ifndef RECURSIVE_TF_CC_BASE_FAULTS_H_
#define RECURSIVE_TF_CC_BASE_FAULTS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace recursive_tf {

// A switch of tests: whatever is about to happen for the n-th time fails
// instead, as it would if the machine had run out of something.
//
// Thread safety: every method may be called from any thread. Threads that
// strike at the same time are counted in some order.
//
// Cost: one relaxed read of what never changes, as long as nothing is planted.
class Faults {
 public:
  enum class Kind : uint8_t {
    // An invocation gets an activation.
    kActivation,
    // A body or a block is about to run.
    kLaunch,
    // Memory for rows, or for scratch.
    kAllocation,
    // What a gradient reads is kept; is read again.
    kCachePut,
    kCacheGet,
    // The gradient of a body or of a block is about to run.
    kGradient,
    // What is left to the root: a deferred part, or a contribution to a
    // capture's gradient.
    kDeferred,
  };
  static constexpr size_t kNumKinds = 7;

  static Faults& Global() {
    static Faults faults;
    return faults;
  }

  // From now on counts what happens of a kind, from 1; that with the number
  // `nth` fails, or nothing if it is 0.
  void Plant(Kind kind, int64_t nth) {
    is_on_.store(false, std::memory_order_relaxed);
    counts_[Index(kind)].store(0, std::memory_order_relaxed);
    planted_.store(static_cast<int64_t>(kind), std::memory_order_relaxed);
    nth_.store(nth, std::memory_order_relaxed);
    is_on_.store(true, std::memory_order_release);
  }

  // Ends it. Returns how much of that kind happened.
  int64_t Clear() {
    is_on_.store(false, std::memory_order_relaxed);
    return counts_[planted_.load(std::memory_order_relaxed)].load(
        std::memory_order_relaxed);
  }

  // Returns whether what is about to happen fails.
  [[nodiscard]] bool Strikes(Kind kind) {
    return is_on_.load(std::memory_order_relaxed) && Count(kind);
  }

 private:
  static size_t Index(Kind kind) { return static_cast<size_t>(kind); }

  bool Count(Kind kind) {
    if (!is_on_.load(std::memory_order_acquire) ||
        planted_.load(std::memory_order_relaxed) !=
            static_cast<int64_t>(kind)) {
      return false;
    }
    const int64_t before =
        counts_[Index(kind)].fetch_add(1, std::memory_order_relaxed);
    return before + 1 == nth_.load(std::memory_order_relaxed);
  }

  std::atomic<bool> is_on_{false};
  std::atomic<int64_t> planted_{0};
  std::atomic<int64_t> nth_{0};
  std::array<std::atomic<int64_t>, kNumKinds> counts_{};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_FAULTS_H_
