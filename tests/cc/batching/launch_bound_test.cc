#include "recursive_tf/cc/batching/launch_bound.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/testing/rows_of.h"

namespace recursive_tf {
namespace {

// A launch with one input, of `rows`.
Launch LaunchOf(int32_t block, const std::vector<ValueRow>& rows) {
  Launch launch;
  launch.block = block;
  launch.activations.resize(rows.size());
  launch.inputs = {{RowsOf(rows)}};
  return launch;
}

// Adds a launch that nothing had to decide.
void Add(const Launch& launch, int32_t num_values, LaunchBound* bound) {
  bound->Add(launch, std::vector<ValueRow>(launch.activations.size()),
             num_values);
}

TEST(LaunchBoundTest, NothingNeedsNoLaunch) {
  LaunchBound bound(2);
  bound.AddValues(3, 1);
  EXPECT_EQ(bound.Get(), 0);
}

TEST(LaunchBoundTest, NobodyWaitsForARowOfATable) {
  LaunchBound bound(1);
  bound.AddValues(1, 1);
  bound.AddTables(2);
  bound.AddValues(1, 1);
  Add(LaunchOf(0, {{0, 0}}), 1, &bound);
  Add(LaunchOf(0, {{1, 1000000}, {2, 5}, {3, 0}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 1);
  Add(LaunchOf(0, {{4, 0}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 2);
}

TEST(LaunchBoundTest, WhatDoesNotDependOnEachOtherNeedsOneLaunch) {
  LaunchBound bound(1);
  bound.AddValues(1, 4);
  // A policy that launched it twice took one launch too many.
  Add(LaunchOf(0, {{0, 0}, {0, 1}}), 1, &bound);
  Add(LaunchOf(0, {{0, 2}, {0, 3}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 1);
}

TEST(LaunchBoundTest, AChainNeedsALaunchALink) {
  LaunchBound bound(1);
  bound.AddValues(1, 1);
  for (int32_t value = 0; value < 5; ++value) {
    Add(LaunchOf(0, {{value, 0}}), 1, &bound);
  }
  EXPECT_EQ(bound.Get(), 5);
}

TEST(LaunchBoundTest, AChainGoesThroughARowThatSeveralShare) {
  LaunchBound bound(1);
  bound.AddValues(1, 3);
  Add(LaunchOf(0, {{0, 0}}), 1, &bound);
  // Its first activation comes first, its third one after the launch before.
  Launch launch = LaunchOf(0, {{0, 1}, {0, 2}, {1, 0}});
  launch.shared = EqualRows(
      3, [](int32_t row) { return static_cast<uint64_t>(row % 2); },
      [](int32_t a, int32_t b) { return a % 2 == b % 2; });
  Add(launch, 1, &bound);
  EXPECT_EQ(bound.Get(), 2);
  // Of the other row nothing is needed before.
  Add(LaunchOf(0, {{2, 1}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 2);
  Add(LaunchOf(0, {{2, 0}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 3);
}

TEST(LaunchBoundTest, AChainGoesThroughOtherBlocks) {
  LaunchBound bound(2);
  bound.AddValues(1, 1);
  Add(LaunchOf(0, {{0, 0}}), 1, &bound);
  Add(LaunchOf(1, {{1, 0}}), 1, &bound);
  Add(LaunchOf(0, {{2, 0}}), 1, &bound);
  EXPECT_EQ(bound.Get(), 2 + 1);
}

TEST(LaunchBoundTest, ATurnOfALoopWaitsForItsCondition) {
  LaunchBound bound(2);
  bound.AddValues(1, 1);
  // Block 0 looks at what block 1 gave, which does not take what block 0 gives.
  Add(LaunchOf(0, {{0, 0}}), 1, &bound);
  bound.Add(LaunchOf(1, {{0, 0}}), {{1, 0}}, 1);
  bound.Add(LaunchOf(0, {{2, 0}}), {{1, 0}}, 1);
  bound.Add(LaunchOf(1, {{2, 0}}), {{3, 0}}, 1);
  bound.Add(LaunchOf(0, {{4, 0}}), {{3, 0}}, 1);
  EXPECT_EQ(bound.Get(), 3 + 2);
}

TEST(LaunchBoundTest, TheLongestOfAllInputsCounts) {
  LaunchBound bound(1);
  bound.AddValues(1, 2);
  Add(LaunchOf(0, {{0, 0}}), 2, &bound);
  Launch joined = LaunchOf(0, {{0, 1}});
  joined.inputs = {{RowsOf({{0, 1}}), RowsOf({{2, 0}})}};
  Add(joined, 1, &bound);
  EXPECT_EQ(bound.Get(), 2);
}

}  // namespace
}  // namespace recursive_tf
