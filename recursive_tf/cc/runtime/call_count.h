#ifndef RECURSIVE_TF_CC_RUNTIME_CALL_COUNT_H_
#define RECURSIVE_TF_CC_RUNTIME_CALL_COUNT_H_

#include <atomic>
#include <cstdint>

namespace recursive_tf {

// How many calls there are, and what they hold.
//
// Both are in one word, so that a call costs one atomic operation when it
// begins and one when it ends. Bytes are counted in units of 1 KiB, rounded up
// for each call, and modulo 4 TiB; calls up to 2^32.
//
// Thread safety: every method may be called from any thread.
class CallCount {
 public:
  struct Total {
    int64_t num_calls;
    int64_t num_bytes;
  };

  // Counts a call that holds `bytes`. Returns what was counted before.
  Total Add(int64_t bytes) {
    return TotalOf(
        word_.fetch_add(kCall + Units(bytes), std::memory_order_relaxed));
  }

  // Takes back an Add.
  void Remove(int64_t bytes) {
    word_.fetch_sub(kCall + Units(bytes), std::memory_order_relaxed);
  }

  // Takes back what a call holds, but not the call.
  void RemoveBytes(int64_t bytes) {
    word_.fetch_sub(Units(bytes), std::memory_order_relaxed);
  }

  Total Get() const { return TotalOf(word_.load(std::memory_order_relaxed)); }

  // What is counted for `bytes`.
  static int64_t Rounded(int64_t bytes) {
    return static_cast<int64_t>(Units(bytes) / kOneUnit * kBytesAUnit);
  }

 private:
  static constexpr uint64_t kBytesAUnit = 1024;
  static constexpr uint64_t kCall = 1;
  // In the high half, where what is too much is lost without a trace in calls.
  static constexpr uint64_t kOneUnit = uint64_t{UINT32_MAX} + 1;

  static uint64_t Units(int64_t bytes) {
    const uint64_t rounded_up = static_cast<uint64_t>(bytes) + kBytesAUnit - 1;
    return rounded_up / kBytesAUnit * kOneUnit;
  }

  static Total TotalOf(uint64_t word) {
    return {static_cast<int64_t>(word % kOneUnit),
            static_cast<int64_t>(word / kOneUnit * kBytesAUnit)};
  }

  std::atomic<uint64_t> word_{0};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_CALL_COUNT_H_
