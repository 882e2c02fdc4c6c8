#include "recursive_tf/cc/scheduling/levels.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// 0 -> 1 -> 3, 0 -> 2 -> 3, and 4 by itself.
Dependences Diamond() { return {5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}}; }

TEST(LevelsTest, AreTheLongestWaysToTheEnd) {
  const Levels levels = LevelsOf(Diamond(), {1, 10, 4, 2, 7});
  EXPECT_EQ(levels.values, (std::vector<int64_t>{13, 12, 6, 2, 7}));
}

TEST(LevelsTest, MarksTheLongestPath) {
  const Levels levels = LevelsOf(Diamond(), {1, 10, 4, 2, 7});
  EXPECT_EQ(levels.is_critical,
            (std::vector<bool>{true, true, false, true, false}));
}

TEST(LevelsTest, AnOperationThatIsReachedLateIsNotCriticalByItsLevelAlone) {
  // 0 -> 1 and 2 -> 3 -> 4: 1 has the level of 3, but more time.
  const Dependences graph{5, {{0, 1}, {2, 3}, {3, 4}}};
  const Levels levels = LevelsOf(graph, {1, 5, 3, 2, 3});
  EXPECT_EQ(levels.is_critical,
            (std::vector<bool>{false, false, true, true, true}));
}

TEST(LevelsTest, WhatACycleLeavesUnorderedHasItsOwnTime) {
  const Dependences graph{3, {{0, 1}, {1, 2}, {2, 1}}};
  const Levels levels = LevelsOf(graph, {1, 2, 4});
  EXPECT_EQ(levels.values, (std::vector<int64_t>{3, 2, 4}));
}

TEST(LevelsTest, OfNothingAreNone) {
  EXPECT_TRUE(LevelsOf({}, {}).values.empty());
}

}  // namespace
}  // namespace recursive_tf
