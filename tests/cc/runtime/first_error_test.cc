#include "recursive_tf/cc/runtime/first_error.h"

#include <atomic>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

int IdOf(const std::optional<TracedValue>& error) {
  return error.has_value() ? error->id() : -1;
}

// Long enough to be allocated, so that a torn copy is seen.
std::string ErrorOf(int thread) {
  return std::string(100, static_cast<char>('a' + thread));
}

TEST(FirstErrorTest, IsEmptyWhereNothingFailed) {
  const FirstError<std::string> error;
  EXPECT_EQ(error.Get(), std::nullopt);
}

TEST(FirstErrorTest, KeepsTheFirstOfTwo) {
  FirstError<std::string> error;
  EXPECT_TRUE(error.Record("first"));
  EXPECT_FALSE(error.Record("second"));
  EXPECT_EQ(error.Get(), "first");
}

TEST(FirstErrorTest, ReadingDoesNotConsume) {
  FirstError<std::string> error;
  ASSERT_TRUE(error.Record("first"));
  EXPECT_EQ(error.Get(), "first");
  EXPECT_EQ(error.Get(), "first");
}

TEST(FirstErrorTest, OnlyTheFirstStaysAliveAndItDiesWithItsOwner) {
  {
    FirstError<TracedValue> error;
    for (int id = 0; id < 10; ++id) error.Record(TracedValue(id));
    EXPECT_EQ(TracedValue::num_alive, 1);
    EXPECT_EQ(IdOf(error.Get()), 0);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

// Reading before recording: a Record would hide a Get that takes no lock.
TEST(FirstErrorStressTest, OneOfEightThreadsIsFirstAndAllSeeItsError) {
  for (int round = 0; round < 200; ++round) {
    FirstError<std::string> error;
    std::atomic<int> num_first = 0;
    std::atomic<int> first_thread = -1;
    RunInThreads(8, [&](int thread) {
      const std::string before = error.Get().value_or("none yet");
      if (error.Record(ErrorOf(thread))) {
        ++num_first;
        first_thread = thread;
        EXPECT_EQ(before, "none yet");
      }
      EXPECT_NE(error.Get(), std::nullopt);
    });
    EXPECT_EQ(num_first, 1);
    EXPECT_EQ(error.Get(), ErrorOf(first_thread));
  }
}

}  // namespace
}  // namespace recursive_tf
