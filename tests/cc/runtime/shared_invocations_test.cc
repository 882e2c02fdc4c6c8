#include "recursive_tf/cc/runtime/shared_invocations.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/wait_graph.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

using Table = SharedInvocations<int>;
using Verdict = Table::Verdict;

class SharedInvocationsTest : public testing::Test {
 protected:
  Verdict Ask(int64_t key, WaitVertex* asker = nullptr) {
    return table_.Ask(
        {0, key}, asker, [this](int outcome) { told_.push_back(outcome); },
        &shared_, &cycle_);
  }

  Table table_;
  Table::Shared* shared_ = nullptr;
  std::vector<int64_t> cycle_;
  std::vector<int> told_;
};

TEST_F(SharedInvocationsTest, WhoAsksFirstRunsItAndAllGetWhatCame) {
  EXPECT_EQ(Ask(7), Verdict::kIsNew);
  Table::Shared* const first = shared_;
  EXPECT_EQ(Ask(7), Verdict::kWillEnd);
  EXPECT_EQ(shared_, first);
  EXPECT_TRUE(told_.empty());
  table_.End(first, 42);
  EXPECT_EQ(told_, (std::vector<int>{42, 42}));
  EXPECT_EQ(Ask(7), Verdict::kHasEnded);
  EXPECT_EQ(shared_->outcome(), 42);
  EXPECT_EQ(told_.size(), 2);
}

TEST_F(SharedInvocationsTest, KeysOfTwoProceduresDoNotMeet) {
  EXPECT_EQ(Ask(7), Verdict::kIsNew);
  EXPECT_EQ(table_.Ask(
                {1, 7}, nullptr, [](int) {}, &shared_, &cycle_),
            Verdict::kIsNew);
  EXPECT_EQ(Ask(-7), Verdict::kIsNew);
  EXPECT_EQ(Ask(int64_t{7} * 1000000007), Verdict::kIsNew);
}

TEST_F(SharedInvocationsTest, WhoWaitsForItselfIsToldSo) {
  EXPECT_EQ(Ask(1), Verdict::kIsNew);
  Table::Shared* const one = shared_;
  EXPECT_EQ(Ask(2, one), Verdict::kIsNew);
  Table::Shared* const two = shared_;
  EXPECT_EQ(Ask(1, two), Verdict::kIsCycle);
  EXPECT_EQ(cycle_, (std::vector<int64_t>{1, 2}));
  table_.End(two, 0);
  table_.End(one, 0);
  EXPECT_EQ(told_.size(), 2);
}

TEST_F(SharedInvocationsTest, AWaiterMayAskAgain) {
  EXPECT_EQ(Ask(1), Verdict::kIsNew);
  Table::Shared* const one = shared_;
  Verdict again = Verdict::kIsNew;
  EXPECT_EQ(
      table_.Ask(
          {0, 1}, nullptr, [&](int) { again = Ask(1); }, &shared_, &cycle_),
      Verdict::kWillEnd);
  table_.End(one, 3);
  EXPECT_EQ(again, Verdict::kHasEnded);
}

TEST_F(SharedInvocationsTest, HeightsAreInTheOrderOfWhatWasNeeded) {
  std::vector<Table::Shared*> chain;
  for (int64_t key = 0; key < 3; ++key) {
    EXPECT_EQ(Ask(key, chain.empty() ? nullptr : chain.back()),
              Verdict::kIsNew);
    chain.push_back(shared_);
  }
  EXPECT_EQ(Ask(3, chain[0]), Verdict::kIsNew);
  table_.End(shared_, 13);
  for (int i = 2; i >= 0; --i) table_.End(chain[i], 10 + i);
  const auto heights = table_.ByHeight();
  ASSERT_EQ(heights.size(), 3);
  ASSERT_EQ(heights[0].size(), 2);
  EXPECT_EQ(*heights[0][0] + *heights[0][1], 12 + 13);
  EXPECT_EQ(*heights[1].front(), 11);
  EXPECT_EQ(*heights[2].front(), 10);
}

TEST(SharedInvocationsThreadsTest, OfManyThreadsOneRunsEachKey) {
  constexpr int kNumThreads = 8;
  constexpr int64_t kNumKeys = 2000;
  Table table;
  std::atomic<int> num_runs = 0;
  std::atomic<int64_t> sum = 0;
  RunInThreads(kNumThreads, [&](int) {
    for (int64_t key = 0; key < kNumKeys; ++key) {
      Table::Shared* shared = nullptr;
      std::vector<int64_t> cycle;
      const Verdict verdict = table.Ask(
          {0, key}, nullptr, [&](int outcome) { sum += outcome; }, &shared,
          &cycle);
      if (verdict == Verdict::kIsNew) {
        ++num_runs;
        table.End(shared, static_cast<int>(key));
      } else if (verdict == Verdict::kHasEnded) {
        sum += shared->outcome();
      }
    }
  });
  EXPECT_EQ(num_runs, kNumKeys);
  EXPECT_EQ(sum, kNumThreads * kNumKeys * (kNumKeys - 1) / 2);
}

}  // namespace
}  // namespace recursive_tf
