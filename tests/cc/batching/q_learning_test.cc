#include "recursive_tf/cc/batching/q_learning.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policy_table.h"
#include "recursive_tf/cc/batching/rehearsal.h"
#include "recursive_tf/cc/batching/sufficient_policy.h"
#include "recursive_tf/cc/testing/launch_graphs.h"

namespace recursive_tf {
namespace {

// Returns the fewest launches of the tables that trials lead to.
int64_t Learned(const std::vector<LaunchGraph>& graphs, Encoding encoding,
                int num_trials) {
  LearningSettings settings;
  settings.encoding = encoding;
  QLearning learning(&graphs, settings);
  int64_t fewest = 0;
  for (int trial = 0; trial < num_trials; ++trial) {
    learning.Try();
    const int64_t launches = learning.Launches(learning.Table());
    if (trial == 0 || launches < fewest) fewest = launches;
  }
  return fewest;
}

TEST(QLearningTest, FindsTheFewestLaunchesOfFigure1) {
  const std::vector<LaunchGraph> graphs = {TreeOfFigure1()};
  for (const Encoding encoding :
       {Encoding::kBase, Encoding::kMax, Encoding::kSort}) {
    EXPECT_EQ(Learned(graphs, encoding, 50), 6);
  }
}

// Neither agenda nor depth finds these: chains that begin with different blocks
// have to wait for each other.
TEST(QLearningTest, FindsTheFewestLaunchesOfChains) {
  const std::vector<LaunchGraph> graphs = {
      Chains({{0, 0, 1, 1, 0, 0}, {1, 1, 0, 0}, {0, 1, 1}}, 2)};
  const int64_t fewest = SmallGraph(graphs.data()).FewestLaunches(0);
  EXPECT_LE(Learned(graphs, Encoding::kSort, 200), fewest + 1);
}

TEST(QLearningTest, TheFirstTrialIsTheSufficientConditionWhereStatesTellIt) {
  const std::vector<LaunchGraph> graphs = {TreeOfFigure1()};
  Rehearsal rehearsal(graphs.data());
  EXPECT_EQ(Learned(graphs, Encoding::kSort, 1),
            rehearsal.Run(SufficientPolicy(&rehearsal.order(),
                                           &rehearsal.sub_frontiers())));
}

TEST(QLearningTest, OneSeedGivesOneTable) {
  std::mt19937_64 random(4);
  const std::vector<LaunchGraph> graphs = {RandomLaunchGraph(60, 4, &random),
                                           RandomLaunchGraph(60, 4, &random)};
  const auto table = [&graphs] {
    QLearning learning(&graphs, LearningSettings());
    for (int trial = 0; trial < 20; ++trial) learning.Try();
    return ToText(learning.Table());
  };
  EXPECT_EQ(table(), table());
}

TEST(QLearningTest, LaunchesAreThoseOfAllGraphs) {
  const std::vector<LaunchGraph> graphs = {TreeOfFigure1(), TreeOfFigure1()};
  QLearning learning(&graphs, LearningSettings());
  learning.Try();
  EXPECT_EQ(learning.Launches(learning.Table()), 12);
  EXPECT_EQ(learning.LeastLaunches(), 12);
}

}  // namespace
}  // namespace recursive_tf
