#include "recursive_tf/cc/runtime/first_failure.h"

#include <atomic>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

// The invocations of a root call with `num_rows` rows.
Activation Row(int row) {
  Activation activation;
  activation.ordinal = row;
  return activation;
}

Activation ChildOf(const Activation& parent, int site) {
  Activation child;
  child.parent = &parent;
  child.site = site;
  child.depth = parent.depth + 1;
  return child;
}

// Long enough to be allocated, so that a torn copy is seen.
std::string ErrorOf(int row) {
  return std::string(100, static_cast<char>('a' + row));
}

TEST(FirstFailureTest, IsEmptyWhereNothingFailed) {
  const FirstFailure<std::string> failure;
  EXPECT_EQ(failure.Get(), std::nullopt);
  EXPECT_FALSE(failure.Precedes(Row(0)));
}

TEST(FirstFailureTest, KeepsTheFirstInPathOrderWhateverComesFirstInTime) {
  FirstFailure<std::string> failure;
  failure.Record(Row(1), "one");
  failure.Record(Row(2), "two");
  EXPECT_EQ(failure.Get(), "one");
  failure.Record(Row(0), "zero");
  EXPECT_EQ(failure.Get(), "zero");
}

TEST(FirstFailureTest, KeepsTheFirstInTimeOfOneActivation) {
  FirstFailure<std::string> failure;
  failure.Record(Row(0), "first");
  failure.Record(Row(0), "second");
  EXPECT_EQ(failure.Get(), "first");
}

TEST(FirstFailureTest, PrecedesWhatComesAfterItAndWhatItCalled) {
  const Activation root = Row(0);
  const Activation left = ChildOf(root, 0);
  const Activation failed = ChildOf(root, 1);
  const Activation right = ChildOf(root, 2);
  FirstFailure<std::string> failure;
  failure.Record(failed, "failed");
  EXPECT_TRUE(failure.Precedes(right));
  EXPECT_TRUE(failure.Precedes(ChildOf(failed, 0)));
  EXPECT_TRUE(failure.Precedes(Row(1)));
  EXPECT_FALSE(failure.Precedes(left));
  EXPECT_FALSE(failure.Precedes(ChildOf(left, 9)));
  EXPECT_FALSE(failure.Precedes(root));
}

TEST(FirstFailureTest, OutlivesTheActivationThatFailed) {
  FirstFailure<std::string> failure;
  {
    const Activation root = Row(3);
    failure.Record(ChildOf(root, 1), "gone");
  }
  EXPECT_EQ(failure.Get(), "gone");
  EXPECT_TRUE(failure.Precedes(Row(4)));
}

TEST(FirstFailureTest, OnlyOneErrorStaysAliveAndItDiesWithItsOwner) {
  {
    FirstFailure<TracedValue> failure;
    for (int row = 9; row >= 0; --row) {
      failure.Record(Row(row), TracedValue(row));
    }
    EXPECT_EQ(TracedValue::num_alive, 1);
    EXPECT_EQ(failure.Get().value_or(TracedValue(-1)).id(), 0);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

// Reading before recording: a Record would hide a Get that takes no lock.
TEST(FirstFailureStressTest, OfEightThreadsTheFirstRowIsKept) {
  for (int round = 0; round < 200; ++round) {
    FirstFailure<std::string> failure;
    std::atomic<int> num_after_last = 0;
    RunInThreads(8, [&](int thread) {
      if (failure.Precedes(Row(8))) ++num_after_last;
      failure.Record(Row(thread), ErrorOf(thread));
      EXPECT_TRUE(failure.Precedes(Row(8)));
      EXPECT_NE(failure.Get(), std::nullopt);
    });
    EXPECT_LT(num_after_last, 8);
    EXPECT_EQ(failure.Get(), ErrorOf(0));
  }
}

}  // namespace
}  // namespace recursive_tf
