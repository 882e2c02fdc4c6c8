#ifndef RECURSIVE_TF_CC_RUNTIME_TAIL_PREDICTOR_H_
#define RECURSIVE_TF_CC_RUNTIME_TAIL_PREDICTOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace recursive_tf {

// Predicts, from what came before, whether a piece of work goes on for only a
// short while after it has scheduled something: its tail is short.
//
// What is scheduled then had better wait for the thread. Another one would take
// it at once, and with it all that comes of it: a recursion without parallelism
// would move from core to core at each level.
//
// It works as the branch predictors of processors do, with a small table of
// counters that a thread has for itself: predictors that were made kEntries
// apart share a counter, and what is learned may outlive its predictor. It
// forgets at one long tail: to share too much costs some microseconds, to hold
// too much may cost the parallelism.
//
// Thread safety: every thread learns and predicts for itself. A copy is the
// same predictor.
class TailPredictor {
 public:
  // A hop to another thread and back costs about as much. It is also what
  // TensorFlow's executor takes for the least time of an expensive op.
  static constexpr std::chrono::nanoseconds kShort{3000};

  // How many short tails in a row make another one likely.
  static constexpr int kEnough = 4;

  static constexpr size_t kEntries = 256;

  TailPredictor() : entry_(NextNumber() % kEntries) {}

  bool IsShort() const { return Counter() >= kEnough; }

  void Learn(std::chrono::nanoseconds tail) const {
    int8_t& counter = Counter();
    if (tail > kShort) {
      counter = 0;
    } else if (counter < kEnough) {
      ++counter;
    }
  }

 private:
  // How many tails in a row were short, up to kEnough.
  int8_t& Counter() const {
    static thread_local std::array<int8_t, kEntries> counters{};
    return counters[entry_];
  }

  static size_t NextNumber() {
    static std::atomic<size_t> next{0};
    return next.fetch_add(1);
  }

  size_t entry_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_TAIL_PREDICTOR_H_
