#include "recursive_tf/cc/batching/rehearsal.h"

#include <bitset>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/sufficient_policy.h"
#include "recursive_tf/cc/testing/launch_graphs.h"

namespace recursive_tf {
namespace {

int64_t LaunchesOf(const LaunchGraph& graph, const std::string& policy) {
  Rehearsal rehearsal(&graph);
  return rehearsal.Run(*MakePolicy(policy, &rehearsal.order()));
}

int64_t LaunchesOfSufficient(const LaunchGraph& graph) {
  Rehearsal rehearsal(&graph);
  return rehearsal.Run(
      SufficientPolicy(&rehearsal.order(), &rehearsal.sub_frontiers()));
}

TEST(RehearsalTest, PoliciesTakeAsManyLaunchesAsInFigure1) {
  const LaunchGraph tree = TreeOfFigure1();
  EXPECT_EQ(LaunchesOf(tree, "depth"), 9);
  EXPECT_EQ(LaunchesOf(tree, "agenda"), 7);
  EXPECT_EQ(LaunchesOfSufficient(tree), 6);
  EXPECT_EQ(Rehearsal(&tree).LeastLaunches(), 6);
}

TEST(RehearsalTest, GraphsWithoutNodesTakeNoLaunch) {
  const LaunchGraph empty({0, 0});
  EXPECT_EQ(LaunchesOf(empty, "agenda"), 0);
  EXPECT_EQ(Rehearsal(&empty).LeastLaunches(), 0);
}

TEST(RehearsalTest, LowRanksGoFirst) {
  // Agenda alone would launch block 0, which is less deep, twice.
  LaunchGraph graph({1, 0});
  const int32_t first = graph.Add(1, {});
  graph.Add(0, {graph.Add(1, {graph.Add(1, {first})})});
  graph.Add(0, {first});
  EXPECT_EQ(LaunchesOf(graph, "agenda"), 4);
}

// So a policy need not look past the lowest rank, nor learn to.
TEST(RehearsalTest, NothingIsLostByLaunchingLowRanksFirst) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    const LaunchGraph graph =
        RandomLaunchGraph(14, 5, &random, /*with_ranks=*/true);
    const SmallGraph small(&graph);
    EXPECT_EQ(small.FewestLaunches(0, /*by_rank=*/true),
              small.FewestLaunches(0));
  }
}

// Two chains of calls that return through blocks 0 and 1 in turn, one of them
// longer: who is behind sets the pace, and the other one joins.
TEST(RehearsalTest, ThePathThatIsLeftIsAsLongAsThereAreCallsAround) {
  LaunchGraph graph({0, 0});
  const auto add_chain = [&graph](std::vector<int32_t> blocks) {
    std::vector<int32_t> before;
    auto call_depth = static_cast<int32_t>(blocks.size());
    for (const int32_t block : blocks) {
      before = {graph.Add(block, before, call_depth--)};
    }
  };
  add_chain({0, 1, 0, 1, 0, 1});
  add_chain({1, 0, 1});
  EXPECT_EQ(LaunchesOf(graph, "critical_path"), 6);
  EXPECT_EQ(Rehearsal(&graph).LeastLaunches(), 6);
}

TEST(RehearsalTest, ATableSaysWhatIsLaunched) {
  const LaunchGraph tree = TreeOfFigure1();
  // A node as long as there is one: figure 2.
  EXPECT_EQ(LaunchesOf(tree, "fsm base 0:0 0,1:0 1:1 2:2"), 6);
  EXPECT_EQ(LaunchesOf(tree, "fsm base 0:0 0,1:1 1:1 2:2"), 9);
}

TEST(RehearsalTest, StatesThatATableLacksAreThoseOfTheCriticalPath) {
  const LaunchGraph tree = TreeOfFigure1();
  EXPECT_EQ(LaunchesOf(tree, "fsm sort"), LaunchesOf(tree, "critical_path"));
}

// Any order is possible, so a rehearsal has to get it right.
class AnyPolicy : public Policy {
 public:
  explicit AnyPolicy(std::mt19937_64* random) : random_(*random) {}

  Choice Choose(const Frontier& frontier) const override {
    int32_t block = 0;
    do {
      block = std::uniform_int_distribution<int32_t>(
          0, frontier.num_blocks() - 1)(random_);
    } while (frontier.count(block) == 0);
    return {block, kEveryDepth};
  }

 private:
  std::mt19937_64& random_;
};

TEST(RehearsalTest, FrontiersAreThoseOfTheNodesThatAreLeft) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const LaunchGraph graph = RandomLaunchGraph(14, 3, &random);
    const SmallGraph small(&graph);
    const AnyPolicy policy(&random);
    Rehearsal rehearsal(&graph);
    uint64_t launched = 0;
    while (!rehearsal.is_done()) {
      for (int32_t block = 0; block < graph.num_blocks(); ++block) {
        const std::bitset<64> ready = small.Ready(launched, block);
        const std::bitset<64> of_block = small.SubFrontier(launched, block);
        ASSERT_EQ(rehearsal.frontier().count(block), ready.count());
        ASSERT_EQ(rehearsal.sub_frontiers().count(block), of_block.count());
      }
      const Choice choice = policy.Choose(rehearsal.frontier());
      launched |= small.Ready(launched, choice.block);
      rehearsal.Launch(choice);
    }
    EXPECT_EQ(launched, small.all());
  }
}

TEST(RehearsalTest, NoPolicyIsBelowTheFewestNorThatBelowTheLeast) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const LaunchGraph graph = RandomLaunchGraph(12, 3, &random);
    const int64_t fewest = SmallGraph(&graph).FewestLaunches(0);
    Rehearsal rehearsal(&graph);
    EXPECT_LE(rehearsal.LeastLaunches(), fewest);
    EXPECT_GE(LaunchesOf(graph, "critical_path"), fewest);
    EXPECT_GE(LaunchesOf(graph, "agenda"), fewest);
    EXPECT_GE(LaunchesOf(graph, "depth"), fewest);
    EXPECT_GE(LaunchesOfSufficient(graph), fewest);
    EXPECT_GE(rehearsal.Run(AnyPolicy(&random)), fewest);
  }
}

// Lemma 2.1 of Gu et al. 2023.
TEST(SubFrontiersTest, AShortestOrderBeginsWithABlockWhoseSubFrontierIsReady) {
  std::mt19937_64 random(3);
  int num_ready = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const LaunchGraph graph = RandomLaunchGraph(12, 3, &random);
    const SmallGraph small(&graph);
    const Rehearsal rehearsal(&graph);
    for (int32_t block = 0; block < graph.num_blocks(); ++block) {
      const int64_t count = rehearsal.frontier().count(block);
      if (count == 0 || count < rehearsal.sub_frontiers().count(block)) {
        continue;
      }
      ++num_ready;
      EXPECT_EQ(small.FewestLaunches(small.Ready(0, block)) + 1,
                small.FewestLaunches(0));
    }
  }
  EXPECT_GT(num_ready, 50);
}

}  // namespace
}  // namespace recursive_tf
