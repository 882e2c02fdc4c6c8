// What is included after this is compiled anew, in a namespace of its own, with
// the threads, locks and atomics of a simulation (simulation.h) instead of the
// standard library's. No line of it changes: `std::mutex` there is what is
// found first, which is the one below.
//
// A test includes this, then the sources that it simulates, and their headers
// not before. What is linked beside it has other names, so both may be there.

#ifndef RECURSIVE_TF_CC_TESTING_SIMULATED_STD_H_
#define RECURSIVE_TF_CC_TESTING_SIMULATED_STD_H_

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "recursive_tf/cc/testing/simulation.h"

namespace recursive_tf_simulated {

using ::recursive_tf::Simulation;

namespace std {

using namespace ::std;  // NOLINT(google-build-using-namespace)

class mutex {
 public:
  void lock() {
    Simulation::Current().WaitUntil([this] { return !is_locked_; });
    is_locked_ = true;
  }
  void unlock() { is_locked_ = false; }

 private:
  bool is_locked_ = false;
};

// Wakes up now and then without a reason, as it may.
class condition_variable {
 public:
  void wait(::std::unique_lock<mutex>& lock) {
    Simulation& simulation = Simulation::Current();
    constexpr int kRarely = 16;
    bool is_woken = simulation.DrawOneIn(kRarely);
    waiting_.push_back(&is_woken);
    lock.unlock();
    simulation.WaitUntil([&is_woken] { return is_woken; });
    waiting_.erase(::std::remove(waiting_.begin(), waiting_.end(), &is_woken),
                   waiting_.end());
    lock.lock();
  }

  template <typename Predicate>
  void wait(::std::unique_lock<mutex>& lock, Predicate is_true) {
    while (!is_true()) wait(lock);
  }

  void notify_one() {
    Simulation& simulation = Simulation::Current();
    simulation.Meet();
    ::std::vector<bool*> asleep;
    for (bool* is_woken : waiting_) {
      if (!*is_woken) asleep.push_back(is_woken);
    }
    if (!asleep.empty()) *asleep[simulation.Draw(asleep.size())] = true;
  }

  void notify_all() {
    Simulation::Current().Meet();
    for (bool* is_woken : waiting_) *is_woken = true;
  }

 private:
  ::std::vector<bool*> waiting_;
};

class thread {
 public:
  using id = ::std::thread::id;

  thread() = default;
  explicit thread(::std::function<void()> body)
      : number_(Simulation::Current().Start(::std::move(body))) {}

  bool joinable() const { return number_ >= 0; }
  void join() {
    Simulation::Current().Join(number_);
    number_ = -1;
  }
  id get_id() const {
    return number_ < 0 ? id() : Simulation::Current().IdOf(number_);
  }

 private:
  int number_ = -1;
};

namespace chrono {

using namespace ::std::chrono;  // NOLINT(google-build-using-namespace)

// Each look at it takes a microsecond, and nothing else does.
struct steady_clock {
  using duration = ::std::chrono::steady_clock::duration;
  using time_point = ::std::chrono::steady_clock::time_point;

  static time_point now() {
    static duration time{};
    return time_point(time += microseconds(1));
  }
};

}  // namespace chrono

template <typename T>
class atomic {
 public:
  atomic() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as the original.
  atomic(T value) : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(::std::memory_order /*order*/ = {}) const {
    Simulation::Current().Look();
    return value_;
  }
  void store(T value, ::std::memory_order /*order*/ = {}) {
    Simulation::Current().Change();
    value_ = value;
  }
  T exchange(T value, ::std::memory_order /*order*/ = {}) {
    Simulation::Current().Change();
    return ::std::exchange(value_, value);
  }
  T fetch_add(T more, ::std::memory_order /*order*/ = {}) {
    Simulation::Current().Change();
    return ::std::exchange(value_, value_ + more);
  }
  T fetch_sub(T less, ::std::memory_order /*order*/ = {}) {
    Simulation::Current().Change();
    return ::std::exchange(value_, value_ - less);
  }
  // Fails now and then without a reason, as it may.
  bool compare_exchange_weak(T& expected, T value,
                             ::std::memory_order /*order*/ = {}) {
    Simulation& simulation = Simulation::Current();
    simulation.Change();
    constexpr int kRarely = 16;
    if (value_ == expected && !simulation.DrawOneIn(kRarely)) {
      value_ = value;
      return true;
    }
    expected = value_;
    return false;
  }

 private:
  T value_{};
};

}  // namespace std
}  // namespace recursive_tf_simulated

#define recursive_tf recursive_tf_simulated

#endif  // RECURSIVE_TF_CC_TESTING_SIMULATED_STD_H_
