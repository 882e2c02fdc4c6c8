// Lock step with shared invocations: those of memoised SubGraphs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/integer_program.h"

namespace recursive_tf {
namespace {

Source S(int32_t slot) { return Source::Slot(slot); }

// A graph whose nodes share children: a node without any is a leaf.
struct Graph {
  std::vector<int64_t> left, right;
};

// The blocks of the program below.
enum : uint8_t { kLook, kWeigh, kCombine };
// Its procedures. All calls are of the front.
enum : uint8_t { kFront, kBody, kLeaf, kInner };

constexpr int64_t kModulus = 1000003;

int64_t Combined(int64_t left, int64_t right) {
  return (3 * left + right * right + 1) % kModulus;
}

int64_t WeightOf(int64_t node) { return 7 * node + 2; }

PlannedProcedure Front(bool pushes) {
  PlannedProcedure front;
  front.num_arguments = 1;
  front.num_slots = 2;  // node, result
  Stage ask;
  ask.calls.push_back(CallSite{0, {}, {Branch{kBody, {S(0)}}}, 1});
  ask.calls.back().key = S(0);
  front.stages = {ask};
  if (pushes) {
    Stage push;
    push.pushes = {PlannedPush{1, S(1), S(0)}};
    front.stages.push_back(push);
  }
  front.outputs = {S(1)};
  return front;
}

// The body looks at its node, chooses, and pushes its value to row `node`.
PlannedProcedure Body() {
  PlannedProcedure body;
  body.is_branch = true;
  body.num_arguments = 1;
  body.num_slots = 5;  // node, is inner, left, right, result
  Stage look;
  look.block = kLook;
  look.inputs = {{S(0)}};
  look.first_output = 1;
  look.num_outputs = 3;
  look.calls = {CallSite{
      0, S(1), {Branch{kLeaf, {S(0)}}, Branch{kInner, {S(2), S(3)}}}, 4}};
  Stage push;
  push.pushes = {PlannedPush{0, S(0), S(4)}};
  body.stages = {look, push};
  body.outputs = {S(4)};
  return body;
}

PlannedProcedure Leaf() {
  PlannedProcedure leaf;
  leaf.is_branch = true;
  leaf.num_arguments = 1;
  leaf.num_slots = 2;  // node, value
  Stage weigh;
  weigh.block = kWeigh;
  weigh.inputs = {{S(0)}};
  weigh.first_output = 1;
  weigh.num_outputs = 1;
  leaf.stages = {weigh};
  leaf.outputs = {S(1)};
  return leaf;
}

PlannedProcedure Inner() {
  PlannedProcedure inner;
  inner.is_branch = true;
  inner.num_arguments = 2;
  inner.num_slots = 5;  // left, right, their values, value
  Stage descend;
  descend.calls = {CallSite{0, {}, {Branch{kFront, {S(0)}}}, 2},
                   CallSite{1, {}, {Branch{kFront, {S(1)}}}, 3}};
  Stage combine;
  combine.block = kCombine;
  combine.inputs = {{S(2)}, {S(3)}};
  combine.first_output = 4;
  combine.num_outputs = 1;
  inner.stages = {descend, combine};
  inner.outputs = {S(4)};
  return inner;
}

IntegerProgram Program(const Graph* graph, bool every_call_pushes = false) {
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures = {Front(every_call_pushes), Body(), Leaf(), Inner()};
  program.blocks = {
      [graph](const Column& in) {
        const int64_t left = graph->left[in[0]];
        return Column{left >= 0, left, graph->right[in[0]]};
      },
      [](const Column& in) { return Column{WeightOf(in[0])}; },
      [](const Column& in) { return Column{Combined(in[0], in[1])}; },
  };
  return program;
}

// Returns a graph in which children have smaller numbers.
Graph RandomGraph(int num_leaves, int num_nodes, uint32_t seed) {
  std::mt19937 random(seed);
  Graph graph;
  for (int node = 0; node < num_nodes; ++node) {
    const bool is_leaf = node < num_leaves;
    graph.left.push_back(is_leaf ? -1 : static_cast<int64_t>(random() % node));
    graph.right.push_back(is_leaf ? -1 : static_cast<int64_t>(random() % node));
  }
  return graph;
}

// Returns the values of the nodes, each computed once.
Column ValuesOf(const Graph& graph) {
  Column values;
  for (size_t i = 0; i < graph.left.size(); ++i) {
    values.push_back(graph.left[i] < 0 ? WeightOf(static_cast<int64_t>(i))
                                       : Combined(values[graph.left[i]],
                                                  values[graph.right[i]]));
  }
  return values;
}

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

class SharedCallsTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Policies, SharedCallsTest,
                         testing::Values("agenda", "depth"));

TEST_P(SharedCallsTest, EvaluatesRandomGraphsAndEachNodeOnce) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const auto size = static_cast<int>(seed);
    const Graph graph = RandomGraph(1 + size % 5, 6 + size % 50, seed);
    const auto last = static_cast<int64_t>(graph.left.size()) - 1;
    const Column roots = {last, last / 2, last, 0};
    const IntegerProgram program = Program(&graph);
    IntegerRun run(&program, GetParam());
    const std::vector<Column> results = run.Run({roots}, 4);
    const Column values = ValuesOf(graph);
    ASSERT_EQ(results.size(), 4);
    for (size_t i = 0; i < roots.size(); ++i) {
      ASSERT_EQ(results[i], Column{values[roots[i]]}) << seed;
    }
    const std::set<int64_t> nodes = NodesBelow(graph, roots);
    ASSERT_EQ(NumRows(run, kLook), nodes.size());
    ASSERT_EQ(NumRows(run, kWeigh) + NumRows(run, kCombine), nodes.size());
    ASSERT_EQ(run.tables().at(0).size(), nodes.size());
    ASSERT_EQ(run.steps().activations().num_alive(), 0);
    ASSERT_FALSE(run.steps().FindCycle().has_value());
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
  const IntegerProgram program = Program(&graph);
  IntegerRun run(&program, GetParam());
  const int64_t last = kSide * kSide - 1;
  EXPECT_EQ(run.Run({{last}}, 1),
            (std::vector<Column>{{ValuesOf(graph)[last]}}));
  const auto num_launches = std::count_if(
      run.launches().begin(), run.launches().end(),
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
  const IntegerProgram program = Program(&graph);
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(run.Run({{kLength - 1}}, 1),
            (std::vector<Column>{{ValuesOf(graph).back()}}));
}

TEST_P(SharedCallsTest, WhatWaitsGoesOnInTheFrontWhereItStood) {
  // Each row pushes, in its front, what it got: rows that share push alike.
  const Graph graph = RandomGraph(4, 4, 0);
  const IntegerProgram program = Program(&graph, /*every_call_pushes=*/true);
  IntegerRun run(&program, GetParam());
  run.Run({{0, 1, 2, 3}}, 4);
  EXPECT_EQ(run.tables().at(1),
            (std::map<int64_t, int64_t>{{2, 0}, {9, 1}, {16, 2}, {23, 3}}));
}

TEST_P(SharedCallsTest, ACycleIsFoundWithAPathThatIsInIt) {
  // 5 needs 4 and 3; these need each other. 2 is a leaf that has ended.
  const Graph graph{{-1, -1, -1, 4, 2, 4}, {-1, -1, -1, 2, 3, 2}};
  const IntegerProgram program = Program(&graph);
  IntegerRun run(&program, GetParam());
  run.Run({{0, 5}}, 2);
  const auto wait = run.steps().FindCycle();
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->key, 4);
  EXPECT_EQ(
      run.steps().PathOf(wait->waiter, /*mapped=*/true, {"f", "f", "f", "f"}),
      "f[row 1] → call#0 → call#1 → call#0");
  EXPECT_EQ(run.steps().SubGraphOf(wait->waiter), kFront);
}

TEST_P(SharedCallsTest, ANodeThatIsItsOwnChildIsACycle) {
  const Graph graph{{-1, 1}, {-1, 0}};
  const IntegerProgram program = Program(&graph);
  IntegerRun run(&program, GetParam());
  run.Run({{1}}, 1);
  ASSERT_TRUE(run.steps().FindCycle().has_value());
  EXPECT_EQ(run.steps().FindCycle()->key, 1);
}

TEST_P(SharedCallsTest, AFrontAndWhatItSharesAreOneInvocation) {
  const Graph graph{{-1, 0, 1}, {-1, 0, 1}};
  const IntegerProgram program = Program(&graph);
  IntegerRun enough(&program, GetParam(), ActivationLimits{3, 5});
  EXPECT_EQ(enough.Run({{2}}, 1).size(), 1);
  IntegerRun few(&program, GetParam(), ActivationLimits{0, 4});
  EXPECT_TRUE(few.Run({{2}}, 1).empty());
  IntegerRun flat(&program, GetParam(), ActivationLimits{2, 0});
  EXPECT_TRUE(flat.Run({{2}}, 1).empty());
}

}  // namespace
}  // namespace recursive_tf
