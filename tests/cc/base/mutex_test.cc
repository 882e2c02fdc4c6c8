#include "recursive_tf/cc/base/mutex.h"

#include <future>
#include <stdexcept>

#include "absl/base/thread_annotations.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

struct Counter {
  Mutex mu;
  int count ABSL_GUARDED_BY(mu) = 0;

  int Get() {
    MutexLock lock(&mu);
    return count;
  }
};

// Hangs if `counter` is locked, and then the test fails by its time limit.
int GetInAnotherThread(Counter* counter) {
  return std::async(std::launch::async, &Counter::Get, counter).get();
}

TEST(MutexLockTest, EndOfScopeUnlocks) {
  Counter counter;
  {
    MutexLock lock(&counter.mu);
    counter.count = 1;
  }
  EXPECT_EQ(GetInAnotherThread(&counter), 1);
}

TEST(MutexLockTest, AnExceptionUnlocks) {
  Counter counter;
  const auto fail = [&counter] {
    MutexLock lock(&counter.mu);
    counter.count = 2;
    throw std::runtime_error("failed while it held the lock");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(GetInAnotherThread(&counter), 2);
}

TEST(MutexStressTest, EightThreadsLoseNoIncrement) {
  constexpr int kNumThreads = 8;
  constexpr int kIncrementsPerThread = 10000;
  Counter counter;
  RunInThreads(kNumThreads, [&counter](int) {
    for (int i = 0; i < kIncrementsPerThread; ++i) {
      MutexLock lock(&counter.mu);
      ++counter.count;
    }
  });
  EXPECT_EQ(counter.Get(), kNumThreads * kIncrementsPerThread);
}

}  // namespace
}  // namespace recursive_tf
