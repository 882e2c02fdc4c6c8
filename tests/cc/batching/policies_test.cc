#include "recursive_tf/cc/batching/policies.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {
namespace {

using Ids = std::vector<int32_t>;

TEST(FrontierTest, GivesWhatWaitsInTheOrderInWhichItCame) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(0, 1, 10);
  frontier.Add(1, 1, 20);
  frontier.Add(0, 1, 11);
  EXPECT_EQ(frontier.Take(0, kEveryDepth), (Ids{10, 11}));
  EXPECT_EQ(frontier.count(0), 0);
  EXPECT_EQ(frontier.count(1), 1);
  EXPECT_FALSE(frontier.empty());
  EXPECT_EQ(frontier.Take(1, kEveryDepth), (Ids{20}));
  EXPECT_TRUE(frontier.empty());
}

TEST(FrontierTest, GivesOneDepthOrAllOfThem) {
  Frontier frontier(/*num_blocks=*/1);
  frontier.Add(0, 5, 1);
  frontier.Add(0, 2, 2);
  frontier.Add(0, 5, 3);
  frontier.Add(0, 8, 4);
  EXPECT_EQ(frontier.least_depth(0), 2);
  EXPECT_EQ(frontier.mean_depth(0), 5);
  EXPECT_EQ(frontier.Take(0, 5), (Ids{1, 3}));
  EXPECT_EQ(frontier.mean_depth(0), 5);
  EXPECT_EQ(frontier.Take(0, kEveryDepth), (Ids{2, 4}));
}

TEST(FrontierTest, NobodyWaitsAtAnotherDepth) {
  Frontier frontier(/*num_blocks=*/1);
  frontier.Add(0, 5, 1);
  EXPECT_TRUE(frontier.Take(0, 4).empty());
  EXPECT_EQ(frontier.count(0), 1);
}

// Block 0 waits at depths 1 and 9, block 1 at depth 4.
Frontier TwoBlocks() {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(0, 1, 0);
  frontier.Add(0, 9, 1);
  frontier.Add(1, 4, 2);
  return frontier;
}

TEST(AgendaPolicyTest, LaunchesTheLeastDepthOnAverageAndAllOfIt) {
  const Choice choice = MakePolicy("agenda")->Choose(TwoBlocks(), {0, 1});
  EXPECT_EQ(choice.block, 1);
  EXPECT_EQ(choice.depth, kEveryDepth);
}

TEST(DepthPolicyTest, LaunchesTheLeastDepthAndOnlyThat) {
  const Choice choice = MakePolicy("depth")->Choose(TwoBlocks(), {0, 1});
  EXPECT_EQ(choice.block, 0);
  EXPECT_EQ(choice.depth, 1);
}

TEST(PoliciesTest, AreAskedOnlyForTheBlocksOfTheLowestRank) {
  EXPECT_EQ(MakePolicy("agenda")->Choose(TwoBlocks(), {0}).block, 0);
  EXPECT_EQ(MakePolicy("depth")->Choose(TwoBlocks(), {1}).block, 1);
}

TEST(PoliciesTest, OfEqualBlocksTheFirstIsLaunched) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(1, 3, 0);
  frontier.Add(0, 3, 1);
  EXPECT_EQ(MakePolicy("agenda")->Choose(frontier, {0, 1}).block, 0);
  EXPECT_EQ(MakePolicy("depth")->Choose(frontier, {0, 1}).block, 0);
}

TEST(PoliciesTest, AnUnknownNameHasNone) {
  EXPECT_EQ(MakePolicy("best"), nullptr);
}

}  // namespace
}  // namespace recursive_tf
