#include "recursive_tf/cc/runtime/first_failure.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/path.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

constexpr int32_t kBody = 1;

// A new id, as a root call gives them.
uint64_t NewId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// The invocation of a row of a root call.
Activation Row(int row) {
  Activation activation;
  activation.ordinal = row;
  activation.id = NewId();
  return activation;
}

Activation ChildOf(const Activation& parent, int site, int ordinal = 0) {
  Activation child;
  child.parent = &parent;
  child.site = site;
  child.ordinal = ordinal;
  child.depth = parent.depth + 1;
  child.id = NewId();
  return child;
}

// What a front runs: a part of its invocation.
Activation BodyOf(const Activation& front) {
  Activation body = ChildOf(front, kSharedSite);
  body.depth = front.depth;
  body.procedure = kBody;
  return body;
}

template <typename Error>
std::optional<Error> ErrorOf(const FirstFailure<Error>& failure) {
  const auto found = failure.Get();
  return found.has_value() ? std::optional<Error>(found->error) : std::nullopt;
}

// Returns what failed first. REQUIRES: something did.
template <typename Error>
auto First(const FirstFailure<Error>& failure) {
  auto found = failure.Get();
  if (!found.has_value()) throw std::logic_error("nothing failed");
  return *std::move(found);
}

std::string PathOf(const FirstFailure<std::string>& failure) {
  return FormatPath(First(failure).path, /*mapped=*/true, {"f", "body"});
}

// Long enough to be allocated, so that a torn copy is seen.
std::string TextOf(int row) {
  return std::string(100, static_cast<char>('a' + row));
}

TEST(FirstFailureTest, IsEmptyWhereNothingFailed) {
  FirstFailure<std::string> failure;
  EXPECT_EQ(ErrorOf(failure), std::nullopt);
  EXPECT_FALSE(failure.Precedes(Row(0)));
}

TEST(FirstFailureTest, KeepsTheFirstInPathOrderWhateverComesFirstInTime) {
  FirstFailure<std::string> failure;
  failure.Record(Row(1), "one");
  failure.Record(Row(2), "two");
  EXPECT_EQ(ErrorOf(failure), "one");
  failure.Record(Row(0), "zero");
  EXPECT_EQ(ErrorOf(failure), "zero");
}

TEST(FirstFailureTest, KeepsTheFirstInTimeOfOneActivation) {
  FirstFailure<std::string> failure;
  failure.Record(Row(0), "first");
  failure.Record(Row(0), "second");
  EXPECT_EQ(ErrorOf(failure), "first");
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
  EXPECT_EQ(ErrorOf(failure), "gone");
  EXPECT_TRUE(failure.Precedes(Row(4)));
}

// All in the order in which calls would be made one after the other.
TEST(FirstFailureTest, OfAnyTwoThatFailTheOneThatWouldBeMadeFirstIsKept) {
  const Activation row0 = Row(0);
  const Activation a = ChildOf(row0, 0);
  const Activation a0 = ChildOf(a, 0);
  const Activation a2 = ChildOf(a, 2);
  const Activation b = ChildOf(row0, 1);
  const Activation again = ChildOf(row0, 1, /*ordinal=*/1);
  const Activation again0 = ChildOf(again, 0);
  const Activation row1 = Row(1);
  const std::vector<const Activation*> order = {&row0, &a,     &a0,     &a2,
                                                &b,    &again, &again0, &row1};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < order.size(); ++j) {
      FirstFailure<size_t> failure;
      failure.Record(*order[i], i);
      EXPECT_EQ(failure.Precedes(*order[j]), i < j) << i << " and " << j;
      failure.Record(*order[j], j);
      EXPECT_EQ(ErrorOf(failure), std::min(i, j)) << i << " and " << j;
    }
  }
}

TEST(FirstFailureTest, AFailureBetweenTwoEndsWhatTheLaterOneLetGoOn) {
  const Activation root = Row(0);
  const Activation late = ChildOf(root, 3);
  const Activation late0 = ChildOf(late, 0);
  const Activation late1 = ChildOf(late, 1);
  const Activation middle = ChildOf(root, 2);
  const Activation early = ChildOf(root, 1);
  FirstFailure<std::string> failure;
  failure.Record(late1, "late");
  EXPECT_FALSE(failure.Precedes(late0));
  EXPECT_FALSE(failure.Precedes(middle));
  failure.Record(early, "early");
  EXPECT_TRUE(failure.Precedes(ChildOf(late0, 0)));
  EXPECT_TRUE(failure.Precedes(ChildOf(middle, 0)));
  failure.Record(late0, "late");
  EXPECT_EQ(ErrorOf(failure), "early");
}

TEST(FirstFailureTest, TellsThePathOfWhatFailed) {
  const Activation root = Row(3);
  const Activation inner = ChildOf(root, 1);
  FirstFailure<std::string> failure;
  failure.Record(ChildOf(inner, 2), "late");
  failure.Record(ChildOf(ChildOf(inner, 0), 5), "early");
  EXPECT_EQ(PathOf(failure), "f[row 3] → call#1 → call#0 → call#5");
  failure.Record(inner, "its caller");
  EXPECT_EQ(PathOf(failure), "f[row 3] → call#1");
}

TEST(FirstFailureTest, ThePartsOfAMemoizedInvocationStandAtOnePlace) {
  const Activation front = Row(0);
  const Activation body = BodyOf(front);
  const Activation first = ChildOf(body, 0);
  const Activation second = ChildOf(body, 1);
  FirstFailure<std::string> failure;
  failure.Record(second, "second");
  EXPECT_FALSE(failure.Precedes(first));
  failure.Record(BodyOf(first), "the body of the first");
  EXPECT_EQ(PathOf(failure), "f[row 0] → call#0");
  EXPECT_EQ(First(failure).procedure, kBody);
  failure.Record(front, "front");
  failure.Record(body, "body");
  EXPECT_EQ(ErrorOf(failure), "front");
}

// Two activations of one path: they are told apart by what they call.
TEST(FirstFailureTest, TurnsThatAreNotCountedStandAtOnePlace) {
  const Activation root = Row(0);
  const Activation turn = ChildOf(root, 1);
  const Activation other_turn = ChildOf(root, 1);
  FirstFailure<std::string> failure;
  failure.Record(ChildOf(turn, 1), "one");
  failure.Record(ChildOf(other_turn, 1), "the same");
  EXPECT_EQ(ErrorOf(failure), "one");
  EXPECT_TRUE(failure.Precedes(ChildOf(other_turn, 2)));
  failure.Record(ChildOf(other_turn, 0), "zero");
  EXPECT_EQ(ErrorOf(failure), "zero");
  EXPECT_TRUE(failure.Precedes(ChildOf(turn, 1)));
}

// As many as would take hours if each walked up to the root.
constexpr int kDeep = 1000000;

TEST(FirstFailureTest, ADeepChainBeforeAFailureAsksAtTheCostOfALevelEach) {
  std::vector<Activation> chain(kDeep);
  chain[0] = Row(0);
  FirstFailure<std::string> failure;
  failure.Record(ChildOf(chain[0], 1), "late");
  for (int i = 1; i < kDeep; ++i) {
    chain[i] = ChildOf(chain[i - 1], 0);
    EXPECT_FALSE(failure.Precedes(chain[i]));
  }
  for (int i = kDeep - 1; i > 0; --i) failure.Forget(chain[i]);
}

TEST(FirstFailureTest, FailuresAlongADeepChainCostALevelEach) {
  std::vector<Activation> chain(kDeep);
  chain[0] = Row(0);
  FirstFailure<std::string> failure;
  for (int i = 1; i < kDeep; ++i) {
    failure.Record(ChildOf(chain[i - 1], 1), "late");
    chain[i] = ChildOf(chain[i - 1], 0);
    EXPECT_FALSE(failure.Precedes(chain[i]));
  }
  EXPECT_EQ(First(failure).path.size(), static_cast<size_t>(kDeep));
}

// Each failure makes what is known of the chain's end worthless.
TEST(FirstFailureTest, AChainThatAsksAfterEachOfManyFailuresCostsALevelEach) {
  std::vector<Activation> chain(kDeep);
  chain[0] = Row(0);
  for (int i = 1; i < kDeep; ++i) chain[i] = ChildOf(chain[i - 1], 0);
  FirstFailure<std::string> failure;
  for (int i = 0; i + 1 < kDeep; ++i) {
    failure.Record(ChildOf(chain[i], 1), "late");
    EXPECT_FALSE(failure.Precedes(ChildOf(chain.back(), 0)));
  }
}

TEST(FirstFailureTest, AnEndlessChainAfterAFailureEndsWhenManyCameBefore) {
  std::vector<Activation> chain(kDeep);
  chain[0] = Row(1);
  int num_calls = 1;
  FirstFailure<std::string> failure;
  for (int row = 1000; row > 1; --row) {
    failure.Record(Row(row), "late");
    chain[num_calls] = ChildOf(chain[num_calls - 1], 0);
    EXPECT_FALSE(failure.Precedes(chain[num_calls++]));
  }
  failure.Record(Row(0), "early");
  for (; num_calls < kDeep; ++num_calls) {
    chain[num_calls] = ChildOf(chain[num_calls - 1], 0);
    if (failure.Precedes(chain[num_calls])) break;
  }
  EXPECT_LT(num_calls, 3000);
}

TEST(FirstFailureTest, OnlyOneErrorStaysAliveAndItDiesWithItsOwner) {
  {
    FirstFailure<TracedValue> failure;
    for (int row = 9; row >= 0; --row) {
      failure.Record(Row(row), TracedValue(row));
    }
    EXPECT_EQ(TracedValue::num_alive, 1);
    EXPECT_EQ(First(failure).error.id(), 0);
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
      failure.Record(Row(thread), TextOf(thread));
      EXPECT_TRUE(failure.Precedes(Row(8)));
      EXPECT_NE(ErrorOf(failure), std::nullopt);
    });
    EXPECT_LT(num_after_last, 8);
    EXPECT_EQ(ErrorOf(failure), TextOf(0));
  }
}

}  // namespace
}  // namespace recursive_tf
