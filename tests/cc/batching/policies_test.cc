#include "recursive_tf/cc/batching/policies.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"

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

TEST(PoliciesTest, AgendaAndDepthTakeOnlyBlocksOfTheLowestRank) {
  EXPECT_EQ(ChoiceOf("agenda", TwoBlocks(), {0, 1}).block, 0);
  EXPECT_EQ(ChoiceOf("depth", TwoBlocks(), {1, 0}).block, 1);
}

TEST(PoliciesTest, OfEqualBlocksTheFirstIsLaunched) {
  Frontier frontier(/*num_blocks=*/2);
  frontier.Add(1, 3, 0);
  frontier.Add(0, 3, 1);
  EXPECT_EQ(ChoiceOf("agenda", frontier).block, 0);
  EXPECT_EQ(ChoiceOf("depth", frontier).block, 0);
}

TEST(TablePolicyTest, LaunchesWhatTheTableSaysWhateverTheRanks) {
  const Choice choice = ChoiceOf("fsm base 0,1:1", TwoBlocks(), {0, 1});
  EXPECT_EQ(choice.block, 1);
  EXPECT_EQ(choice.depth, kEveryDepth);
}

TEST(TablePolicyTest, DoesAsAgendaInAStateThatTheTableLacks) {
  EXPECT_EQ(ChoiceOf("fsm base 0:0", TwoBlocks()).block, 1);
}

TEST(PolicyTableTest, EncodingsAreThoseOfThePaper) {
  EXPECT_EQ(Encode(TwoBlocks(), Encoding::kBase), (Ids{0, 1}));
  EXPECT_EQ(Encode(TwoBlocks(), Encoding::kMax), (Ids{0, 1, 0}));
  EXPECT_EQ(Encode(TwoBlocks(), Encoding::kSort), (Ids{0, 1}));
  Frontier frontier = TwoBlocks();
  frontier.Add(1, 4, 3);
  // Equally many: the lower block is first.
  EXPECT_EQ(Encode(frontier, Encoding::kSort), (Ids{0, 1}));
  frontier.Add(1, 5, 4);
  EXPECT_EQ(Encode(frontier, Encoding::kMax), (Ids{0, 1, 1}));
  EXPECT_EQ(Encode(frontier, Encoding::kSort), (Ids{1, 0}));
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
       {"best", "", "fsm", "fsm best 0:0", "fsm sort 0", "fsm sort 0:1",
        "fsm sort 0:0 0:0", "fsm sort :0", "fsm sort 0,:0", "fsm sort -1:-1",
        "fsm sort 0:0x", "fsm sort 99999999999:99999999999", "fsm sort 0:"}) {
    EXPECT_EQ(MakePolicy(text, &order), nullptr) << text;
  }
}

}  // namespace
}  // namespace recursive_tf
