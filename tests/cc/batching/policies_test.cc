#include "recursive_tf/cc/batching/policies.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/learned_tables.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"

namespace recursive_tf {
namespace {

using Ids = std::vector<int32_t>;

TEST(FrontierTest, GivesWhatWaitsInTheOrderInWhichItCame) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(0, {10, 1});
  frontier.Add(1, {20, 1});
  frontier.Add(0, {11, 1});
  EXPECT_EQ(frontier.Take(0, kEveryDepth), (Ids{10, 11}));
  EXPECT_EQ(frontier.count(0), 0);
  EXPECT_EQ(frontier.count(1), 1);
  EXPECT_FALSE(frontier.empty());
  EXPECT_EQ(frontier.Take(1, kEveryDepth), (Ids{20}));
  EXPECT_TRUE(frontier.empty());
}

TEST(FrontierTest, GivesOneDepthOrAllOfThem) {
  Frontier frontier(/*num_blocks=*/1);
  frontier.Add(0, {1, 5});
  frontier.Add(0, {2, 2});
  frontier.Add(0, {3, 5});
  frontier.Add(0, {4, 8});
  EXPECT_EQ(frontier.least_depth(0), 2);
  EXPECT_EQ(frontier.mean_depth(0), 5);
  EXPECT_EQ(frontier.Take(0, 5), (Ids{1, 3}));
  EXPECT_EQ(frontier.mean_depth(0), 5);
  EXPECT_EQ(frontier.Take(0, kEveryDepth), (Ids{2, 4}));
}

TEST(FrontierTest, NobodyWaitsAtAnotherDepth) {
  Frontier frontier(/*num_blocks=*/1);
  frontier.Add(0, {1, 5});
  EXPECT_TRUE(frontier.Take(0, 4).empty());
  EXPECT_EQ(frontier.count(0), 1);
}

// Block 0 waits at depths 1 and 9, block 1 at depth 4.
Frontier TwoBlocks() {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(0, {0, 1});
  frontier.Add(0, {1, 9});
  frontier.Add(1, {2, 4});
  return frontier;
}

Choice ChoiceOf(const std::string& policy, const Frontier& frontier,
                const Ids& ranks = {0, 0}) {
  const BlockOrder order(ranks);
  return MakePolicy(policy, &order)->Choose(frontier);
}

TEST(AgendaPolicyTest, LaunchesTheLeastDepthOnAverageAndAllOfIt) {
  const Choice choice = ChoiceOf("agenda", TwoBlocks());
  EXPECT_EQ(choice.block, 1);
  EXPECT_EQ(choice.depth, kEveryDepth);
}

TEST(DepthPolicyTest, LaunchesTheLeastDepthAndOnlyThat) {
  const Choice choice = ChoiceOf("depth", TwoBlocks());
  EXPECT_EQ(choice.block, 0);
  EXPECT_EQ(choice.depth, 1);
}

TEST(CriticalPathPolicyTest, LaunchesWhatIsTheDeepestInCalls) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(0, {0, 1, /*call_depth=*/3});
  frontier.Add(0, {1, 1, /*call_depth=*/3});
  frontier.Add(1, {2, 9, /*call_depth=*/4});
  EXPECT_EQ(ChoiceOf("critical_path", frontier).block, 1);
  // Many that are nearly as deep count more than one that is.
  for (int32_t id = 3; id < 6; ++id) frontier.Add(0, {id, 1, 3});
  const Choice choice = ChoiceOf("critical_path", frontier);
  EXPECT_EQ(choice.block, 0);
  EXPECT_EQ(choice.depth, kEveryDepth);
  frontier.Take(0, kEveryDepth);
  EXPECT_EQ(frontier.urgency(0), 0);
}

TEST(PoliciesTest, OnlyBlocksOfTheLowestRankAreTaken) {
  EXPECT_EQ(ChoiceOf("critical_path", TwoBlocks(), {1, 0}).block, 1);
  EXPECT_EQ(ChoiceOf("agenda", TwoBlocks(), {0, 1}).block, 0);
  EXPECT_EQ(ChoiceOf("depth", TwoBlocks(), {1, 0}).block, 1);
}

TEST(PoliciesTest, OfEqualBlocksTheFirstIsLaunched) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(1, {0, 3});
  frontier.Add(0, {1, 3});
  EXPECT_EQ(ChoiceOf("agenda", frontier).block, 0);
  EXPECT_EQ(ChoiceOf("depth", frontier).block, 0);
}

TEST(TablePolicyTest, LaunchesWhatTheTableSays) {
  const Choice choice = ChoiceOf("fsm base 0,1:1", TwoBlocks());
  EXPECT_EQ(choice.block, 1);
  EXPECT_EQ(choice.depth, kEveryDepth);
}

TEST(TablePolicyTest, FollowsTheCriticalPathInAStateThatTheTableLacks) {
  EXPECT_EQ(ChoiceOf("fsm base 1:1", TwoBlocks()).block,
            ChoiceOf("critical_path", TwoBlocks()).block);
}

TEST(TablePolicyTest, TakesWhatWasLearnedForItsProgramFromThenOn) {
  const std::vector<std::string> program = {"f 0", "f 1"};
  const BlockOrder order(Ids{0, 0});
  const auto policy = MakePolicy("fsm", &order, program);
  const auto other = MakePolicy("fsm", &order, {"g 0", "g 1"});
  EXPECT_EQ(policy->Choose(TwoBlocks()).block, 0);
  for (const int32_t block : {1, 0, 1}) {
    LearnedTables::Global().Of(program)->Set(
        {Encoding::kBase, {{{0, 1}, block}}});
    EXPECT_EQ(policy->Choose(TwoBlocks()).block, block);
    EXPECT_EQ(other->Choose(TwoBlocks()).block, 0);
  }
}

TEST(PolicyTableTest, EncodingsAreThoseOfThePaper) {
  const BlockOrder order(Ids{0, 0});
  EXPECT_EQ(Encode(TwoBlocks(), order, Encoding::kBase), (Ids{0, 1}));
  EXPECT_EQ(Encode(TwoBlocks(), order, Encoding::kMax), (Ids{0, 1, 0}));
  EXPECT_EQ(Encode(TwoBlocks(), order, Encoding::kSort), (Ids{0, 1}));
  Frontier frontier = TwoBlocks();
  frontier.Add(1, {3, 4});
  // Equally many: the lower block is first.
  EXPECT_EQ(Encode(frontier, order, Encoding::kSort), (Ids{0, 1}));
  frontier.Add(1, {4, 5});
  EXPECT_EQ(Encode(frontier, order, Encoding::kMax), (Ids{0, 1, 1}));
  EXPECT_EQ(Encode(frontier, order, Encoding::kSort), (Ids{1, 0}));
}

TEST(PolicyTableTest, StatesAreOfTheBlocksOfTheLowestRank) {
  Frontier frontier(/*num_blocks=*/4);
  for (const int32_t block : {0, 1, 2, 2, 3}) frontier.Add(block, {block, 1});
  const BlockOrder order(Ids{5, 2, 2, 3});
  EXPECT_EQ(Encode(frontier, order, Encoding::kBase), (Ids{1, 2}));
  EXPECT_EQ(Encode(frontier, order, Encoding::kMax), (Ids{1, 2, 2}));
  EXPECT_EQ(Encode(frontier, order, Encoding::kSort), (Ids{2, 1}));
}

TEST(PolicyTableTest, IsReadAsItWasWritten) {
  for (const Encoding encoding :
       {Encoding::kBase, Encoding::kMax, Encoding::kSort}) {
    const PolicyTable table{encoding, {{{2, 1}, 1}, {{0}, 0}, {{10, 2}, 10}}};
    const auto read = TableFromText(ToText(table));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->encoding, encoding);
    EXPECT_EQ(read->choices, table.choices);
  }
  EXPECT_EQ(ToText({Encoding::kSort, {{{2, 1}, 1}, {{0}, 0}}}),
            "fsm sort 0:0 2,1:1");
}

TEST(PoliciesTest, AnUnknownNameOrWhatIsNoTableHasNone) {
  const BlockOrder order(Ids{0});
  for (const char* const text :
       {"best", "", "fsm best 0:0", "fsm sort 0", "fsm sort 0:1",
        "fsm sort 0:0 0:0", "fsm sort :0", "fsm sort 0,:0", "fsm sort -1:-1",
        "fsm sort 0:0x", "fsm sort 99999999999:99999999999", "fsm sort 0:"}) {
    EXPECT_EQ(MakePolicy(text, &order), nullptr) << text;
  }
}

}  // namespace
}  // namespace recursive_tf
