#ifndef RECURSIVE_TF_CC_BASE_CENSUS_H_
#define RECURSIVE_TF_CC_BASE_CENSUS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace recursive_tf {

// For tests: how much of what root calls are made of is alive. When all of them
// have ended, and what they left for gradients is dropped, it is nothing.
//
// Only runs that began while it was on are counted, each of them whole: so a
// count never says less than there is.
//
// Thread safety: every method may be called from any thread.
//
// Cost: while it is off, a relaxed read for each owner of a counter.
class Census {
 public:
  enum class Kind : uint8_t {
    // Root calls, forward or backward, that run.
    kRuns,
    // Calls of bodies on TensorFlow's executor.
    kCalls,
    // Activations of the dataflow executor; of the batched one, its tables.
    kActivations,
    // What root calls left for their gradients.
    kRecords,
    // In these: values of a region of an invocation, or what a launch keeps.
    kCacheEntries,
    kKeptTensors,
  };
  static constexpr size_t kNumKinds = 6;

  static Census& Global() {
    static Census census;
    return census;
  }

  void set_is_on(bool is_on) { is_on_.store(is_on, std::memory_order_relaxed); }

  int64_t Count(Kind kind) const {
    return counts_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }

  // What an owner counts with: for as long as it lives, or not at all.
  class Counter {
   public:
    explicit Counter(Kind kind) : count_(Global().CountIfOn(kind)) {}

    void Add(int64_t more) const {
      if (count_ != nullptr) {
        count_->fetch_add(more, std::memory_order_relaxed);
      }
    }

   private:
    std::atomic<int64_t>* const count_;
  };

  // Counts one while it lives.
  class One {
   public:
    explicit One(Kind kind) : counter_(kind) { counter_.Add(1); }
    ~One() { counter_.Add(-1); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    const Counter counter_;
  };

 private:
  std::atomic<int64_t>* CountIfOn(Kind kind) {
    return is_on_.load(std::memory_order_relaxed)
               ? &counts_[static_cast<size_t>(kind)]
               : nullptr;
  }

  std::atomic<bool> is_on_{false};
  std::array<std::atomic<int64_t>, kNumKinds> counts_{};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_CENSUS_H_
