#include "recursive_tf/cc/layout/output_groups.h"

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(OutputGroupsTest, OutputsOfSeveralBlocksMayStandInOnePiece) {
  OutputGroups groups;
  groups.Join({0, 0}, {1, 1});
  groups.Join({1, 1}, {2, 0});
  groups.Join({0, 1}, {1, 0});
  EXPECT_TRUE(groups.CanStandTogether({2, 0}));
  EXPECT_TRUE(groups.CanStandTogether({0, 1}));
  EXPECT_TRUE(groups.CanStandTogether({5, 5}));
}

TEST(OutputGroupsTest, TwoOutputsOfABlockMayNot) {
  OutputGroups groups;
  groups.Join({0, 0}, {1, 0});
  groups.Join({1, 0}, {0, 1});
  EXPECT_FALSE(groups.CanStandTogether({0, 0}));
  EXPECT_FALSE(groups.CanStandTogether({1, 0}));
}

}  // namespace
}  // namespace recursive_tf
