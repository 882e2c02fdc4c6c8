// Lock step with shared invocations: those of memoized SubGraphs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"
#include "tests/cc/batching/shared_program.h"

namespace recursive_tf {
namespace {

std::set<int64_t> NodesBelow(const Graph& graph, const Column& roots) {
  std::set<int64_t> nodes;
  Column todo = roots;
  while (!todo.empty()) {
    const int64_t node = todo.back();
    todo.pop_back();
    if (!nodes.insert(node).second || graph.left[node] < 0) continue;
    todo.push_back(graph.left[node]);
    todo.push_back(graph.right[node]);
  }
  return nodes;
}

size_t NumRows(const IntegerRun& run, int32_t block) {
  size_t num_rows = 0;
  for (const auto& [launched, rows] : run.launches()) {
    if (launched == block) num_rows += rows;
  }
  return num_rows;
}

// How a program is run: with a policy; as a flow, or from activation to
// activation.
struct Way {
  std::string policy;
  bool follows_each;
};

std::string NameOf(const testing::TestParamInfo<Way>& info) {
  return info.param.policy + (info.param.follows_each ? "_each" : "_flow");
}

class SharedCallsTest : public testing::TestWithParam<Way> {
 protected:
  // Runs the program on `graph`, for some of its nodes. Returns the value of
  // each; none if the run ended early.
  Column Run(const Graph& graph, const Column& nodes,
             ActivationLimits limits = {}) {
    return RunOf(SharedProgram(&graph, every_call_pushes_), nodes, limits);
  }

  Column RunOf(IntegerProgram program, const Column& nodes,
               ActivationLimits limits = {}) {
    program_ = std::move(program);
    run_ = std::make_unique<IntegerRun>(&program_, GetParam().policy, limits);
    // Fronts that push are activations of their own.
    EXPECT_EQ(run_->is_flow(), !every_call_pushes_);
    if (GetParam().follows_each) run_->set_follows_each();
    Column values;
    for (const Column& row :
         run_->Run({nodes}, static_cast<int32_t>(nodes.size()))) {
      values.insert(values.end(), row.begin(), row.end());
    }
    return values;
  }

  bool every_call_pushes_ = false;
  IntegerProgram program_;
  // The last one.
  std::unique_ptr<IntegerRun> run_;
};

INSTANTIATE_TEST_SUITE_P(Ways, SharedCallsTest,
                         testing::Values(Way{"agenda", true},
                                         Way{"depth", true},
                                         Way{"agenda", false},
                                         Way{"depth", false}),
                         NameOf);

TEST_P(SharedCallsTest, EvaluatesRandomGraphsAndEachNodeOnce) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const auto size = static_cast<int>(seed);
    const Graph graph = RandomGraph(1 + size % 5, 6 + size % 50, seed);
    const auto last = static_cast<int64_t>(graph.left.size()) - 1;
    const Column roots = {last, last / 2, last, 0};
    const Column values = ValuesOf(graph);
    Column expected;
    for (const int64_t root : roots) expected.push_back(values[root]);
    ASSERT_EQ(Run(graph, roots), expected) << seed;
    const std::set<int64_t> nodes = NodesBelow(graph, roots);
    ASSERT_EQ(NumRows(*run_, kLook), nodes.size());
    ASSERT_EQ(NumRows(*run_, kWeigh) + NumRows(*run_, kCombine), nodes.size());
    ASSERT_EQ(run_->tables().at(0).size(), nodes.size());
    ASSERT_EQ(run_->steps().num_alive(), 0);
    ASSERT_FALSE(run_->steps().FindCycle().has_value());
  }
}

TEST_P(SharedCallsTest, ALatticeTakesALaunchForEachDiagonal) {
  constexpr int64_t kSide = 30;
  Graph graph;
  for (int64_t node = 0; node < kSide * kSide; ++node) {
    const bool is_edge = node < kSide || node % kSide == 0;
    graph.left.push_back(is_edge ? -1 : node - 1);
    graph.right.push_back(is_edge ? -1 : node - kSide);
  }
  EXPECT_EQ(Run(graph, {kSide * kSide - 1}), Column{ValuesOf(graph).back()});
  const auto num_launches = std::count_if(
      run_->launches().begin(), run_->launches().end(),
      [](const auto& launch) { return launch.first == kCombine; });
  EXPECT_EQ(num_launches, 2 * (kSide - 1) - 1);
}

// What is below node i is node i - 1, twice: a tree of 2^100000 nodes.
TEST_P(SharedCallsTest, AChainMayBeAHundredThousandLong) {
  constexpr int64_t kLength = 100000;
  Graph graph;
  for (int64_t i = -1; i + 1 < kLength; ++i) {
    graph.left.push_back(i);
    graph.right.push_back(i);
  }
  EXPECT_EQ(Run(graph, {kLength - 1}), Column{ValuesOf(graph).back()});
}

TEST_P(SharedCallsTest, WhatWaitsGoesOnInTheFrontWhereItStood) {
  // Each row pushes, in its front, what it got: rows that share push alike.
  every_call_pushes_ = true;
  Run(RandomGraph(4, 4, 0), {0, 1, 2, 3});
  EXPECT_EQ(run_->tables().at(1),
            (std::map<int64_t, int64_t>{{2, 0}, {9, 1}, {16, 2}, {23, 3}}));
}

TEST_P(SharedCallsTest, ACycleIsFoundWithAPathThatIsInIt) {
  for (const bool fronts_push : {false, true}) {
    every_call_pushes_ = fronts_push;
    // 5 needs 4 and 3; these need each other. 2 is a leaf that has ended.
    Run({{-1, -1, -1, 4, 2, 4}, {-1, -1, -1, 2, 3, 2}}, {0, 5});
    const auto cycle = run_->steps().FindCycle();
    ASSERT_TRUE(cycle.has_value());
    EXPECT_EQ(cycle->keys, (std::vector<int64_t>{4, 3}));
    EXPECT_EQ(run_->steps().PathOf(cycle->wait, /*mapped=*/true,
                                   {"f", "f", "f", "f"}),
              "f[row 1] → call#0 → call#1 → call#0");
    EXPECT_EQ(run_->steps().SubGraphOf(cycle->wait.runner), kFront);
  }
}

TEST_P(SharedCallsTest, ACycleOfSeveralWaitsHasAllItsKeys) {
  // Each root runs a part: 0 → 1 → 2, 2 → 3, 3 → 4 → 0.
  for (const Column& roots : {Column{0}, Column{0, 2, 3}, Column{3, 2, 0}}) {
    Run({{1, 2, 3, 4, 0}, {1, 2, 3, 4, 0}}, roots);
    const auto cycle = run_->steps().FindCycle();
    ASSERT_TRUE(cycle.has_value());
    ASSERT_EQ(cycle->keys.size(), 5);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(cycle->keys[(i + 1) % 5], (cycle->keys[i] + 1) % 5);
    }
  }
}

TEST_P(SharedCallsTest, ANodeThatIsItsOwnChildIsACycle) {
  Run({{-1, 1}, {-1, 0}}, {1});
  const auto cycle = run_->steps().FindCycle();
  ASSERT_TRUE(cycle.has_value());
  EXPECT_EQ(cycle->keys, std::vector<int64_t>{1});
}

TEST_P(SharedCallsTest, AFrontAndWhatItSharesAreOneInvocation) {
  const Graph graph{{-1, 0, 1}, {-1, 0, 1}};
  // Who asks for what runs already makes none.
  EXPECT_EQ(Run(graph, {2}, ActivationLimits{3, 3}).size(), 1);
  EXPECT_TRUE(Run(graph, {2}, ActivationLimits{0, 2}).empty());
  EXPECT_TRUE(Run(graph, {2}, ActivationLimits{2, 0}).empty());
  // The rows of the root call are there before any of them asks.
  EXPECT_EQ(Run(graph, {2, 1, 0, 1}, ActivationLimits{1, 4}).size(), 4);
}

TEST_P(SharedCallsTest, ARootThatOnlyCallsReturnsWhatItsCallsDo) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const auto size = static_cast<int>(seed);
    const Graph graph = RandomGraph(1 + size % 5, 6 + size % 50, seed);
    const Column values = ValuesOf(graph);
    const auto last = static_cast<int64_t>(values.size()) - 1;
    // Two rows share an invocation.
    const Column roots = {last, last / 2, last, 0};
    Column expected;
    for (const int64_t root : roots) expected.push_back(values[root]);
    ASSERT_EQ(RunOf(WrappedSharedProgram(&graph, /*returns=*/true), roots),
              expected);
    ASSERT_EQ(NumRows(*run_, kLook), NodesBelow(graph, roots).size());
    ASSERT_EQ(run_->steps().num_alive(), 0);
  }
}

TEST_P(SharedCallsTest, ARootThatReturnsNothingTakesAnActivationForEachNode) {
  const Graph graph = RandomGraph(5, 50, /*seed=*/7);
  const Column values = ValuesOf(graph);
  const auto size = static_cast<int64_t>(values.size());
  Column all;
  // Each twice: the other row only waits.
  for (int64_t i = 0; i < 2 * size; ++i) all.push_back(i % size);
  EXPECT_EQ(RunOf(WrappedSharedProgram(&graph, /*returns=*/false), all),
            Column());
  EXPECT_EQ(NumRows(*run_, kLook), values.size());
  for (int64_t i = 0; i < size; ++i) {
    EXPECT_EQ(run_->tables().at(0).at(i), values[i]);
  }
  // Branches beside no other call run in place.
  EXPECT_EQ(run_->steps().max_alive(), size);
  EXPECT_EQ(run_->steps().num_alive(), 0);
  EXPECT_FALSE(run_->steps().FindCycle().has_value());
}

TEST_P(SharedCallsTest, PathsHaveTheRowThatHasNoActivation) {
  const std::vector<std::string> names = {"every", "f", "f", "f", "f"};
  for (const bool fronts_push : {false, true}) {
    // 5 needs 4 and 3; these need each other.
    const Graph graph{{-1, -1, -1, 4, 2, 4}, {-1, -1, -1, 2, 3, 2}};
    every_call_pushes_ = fronts_push;
    RunOf(WrappedSharedProgram(&graph, /*returns=*/false, fronts_push), {0, 5});
    const auto cycle = run_->steps().FindCycle();
    ASSERT_TRUE(cycle.has_value());
    EXPECT_EQ(cycle->keys, (std::vector<int64_t>{4, 3}));
    EXPECT_EQ(run_->steps().PathOf(cycle->wait, /*mapped=*/true, names),
              "every[row 1] → call#3 (f) → call#0 → call#1 → call#0");
    EXPECT_EQ(run_->steps().SubGraphOf(cycle->wait.runner), kFront + 1);
  }
}

TEST_P(SharedCallsTest, ARowThatHasNoActivationIsALevelOfDepth) {
  const Graph graph{{-1, 0}, {-1, 0}};
  const std::vector<std::string> names = {"every", "f", "f", "f", "f"};
  const auto run = [&](const Column& nodes, ActivationLimits limits) {
    return RunOf(WrappedSharedProgram(&graph, /*returns=*/true), nodes, limits);
  };
  EXPECT_EQ(run({1}, ActivationLimits{3, 0}).size(), 1);
  EXPECT_TRUE(run({1}, ActivationLimits{2, 0}).empty());
  EXPECT_TRUE(run({0, 1}, ActivationLimits{1, 0}).empty());
  ASSERT_TRUE(run_->steps().refused_call().has_value());
  EXPECT_EQ(run_->steps().PathOf(*run_->steps().refused_call(),
                                 /*mapped=*/true, names),
            "every[row 0] → call#3 (f)");
  EXPECT_TRUE(run({0, 1}, ActivationLimits{0, 1}).empty());
  EXPECT_EQ(run_->steps().PathOf(*run_->steps().refused_call(),
                                 /*mapped=*/true, names),
            "every[row 1] → call#3 (f)");
}

}  // namespace
}  // namespace recursive_tf
