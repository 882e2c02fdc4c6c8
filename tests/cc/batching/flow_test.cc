// Plans whose invocations are all of one SubGraph, run as flows: against the
// same plans run from activation to activation.

#include "recursive_tf/cc/batching/flow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"
#include "tests/cc/batching/flow_programs.h"
#include "tests/cc/batching/shared_program.h"

namespace recursive_tf {
namespace {

void RunLikeItsActivations(const IntegerProgram& program, const Column& keys) {
  IntegerRun flow(&program);
  ASSERT_TRUE(flow.is_flow());
  IntegerRun each(&program);
  each.set_follows_each();
  Column arguments;
  for (const int64_t key : keys) arguments.push_back(ArgumentOf(key));
  const auto num_rows = static_cast<int32_t>(keys.size());
  ASSERT_EQ(flow.Run({keys, arguments}, num_rows),
            each.Run({keys, arguments}, num_rows));
  ASSERT_EQ(flow.launches(), each.launches());
  ASSERT_EQ(flow.tables(), each.tables());
  ASSERT_EQ(flow.steps().num_alive(), 0);
  // Of what a launch brings about, one may begin before another ends.
  ASSERT_LE(flow.steps().max_alive(), each.steps().max_alive() + 1);
  // As many values are left. What nobody reads of a call dies a bit later.
  ASSERT_EQ(flow.num_alive(), each.num_alive());
  ASSERT_LE(flow.max_alive(), each.max_alive() + 4);
}

TEST(FlowTest, RandomFlowsRunLikeTheirActivations) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RunLikeItsActivations(FlowPrograms(seed).Make(), {seed % 40, 3, 7, 3});
  }
}

TEST(FlowTest, SoDoThoseThatShareNothing) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const First first = seed % 2 == 0 ? First::kBody : First::kRoot;
    RunLikeItsActivations(FlowPrograms(seed, first).Make(), {seed % 6, 3, 2});
  }
}

// Returns how many rows were launched less.
int64_t RunWithTables(const IntegerProgram& launched, uint32_t seed,
                      const Column& keys) {
  IntegerProgram program = launched;
  std::mt19937 random(seed);
  int32_t num_tables = 0;
  for (const PlannedProcedure& procedure : program.plan.procedures) {
    for (const Stage& stage : procedure.stages) {
      const bool may_be = stage.block != kNoBlock && stage.inputs.size() == 1 &&
                          stage.inputs.front().size() == 1 &&
                          program.launch_blocks.count(stage.block) == 0;
      if (!may_be || random() % 3 == 0) continue;
      // Others are launched.
      program.looked_up[stage.block] = static_cast<int32_t>(random() % 50);
      num_tables += stage.num_outputs;
    }
  }
  IntegerRun without(&launched);
  IntegerRun with(&program);
  EXPECT_TRUE(with.is_flow());
  Column arguments;
  for (const int64_t key : keys) arguments.push_back(ArgumentOf(key));
  const auto num_rows = static_cast<int32_t>(keys.size());
  EXPECT_EQ(with.Run({keys, arguments}, num_rows),
            without.Run({keys, arguments}, num_rows));
  EXPECT_EQ(with.tables(), without.tables());
  EXPECT_EQ(with.steps().num_alive(), 0);
  const auto num_left = static_cast<int64_t>(with.num_alive());
  // Tables live on; of the others as many are left.
  EXPECT_LE(num_left, static_cast<int64_t>(without.num_alive()) + num_tables);
  int64_t num_less = 0;
  for (const auto& [block, rows] : without.launches()) num_less += rows;
  for (const auto& [block, rows] : with.launches()) num_less -= rows;
  return num_less;
}

TEST(FlowTest, WhatIsLookedUpNeedsNoLaunch) {
  int64_t num_less = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const First first = seed % 3 == 0   ? First::kFront
                        : seed % 3 == 1 ? First::kBody
                                        : First::kRoot;
    const int64_t less =
        RunWithTables(FlowPrograms(seed, first).Make(), seed, {seed % 6, 3, 2});
    EXPECT_GE(less, 0);
    num_less += less;
  }
  EXPECT_GT(num_less, 10000);
}

TEST(FlowTest, WhatOneAloneLooksUpLastMayBeHandedOn) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const First first = seed % 2 == 0 ? First::kFront : First::kBody;
    EXPECT_GE(RunWithTables(FlowPrograms(seed, first).Make(), seed, {seed % 6}),
              0);
  }
}

TEST(FlowTest, AProgramThatIsTooLargeIsNone) {
  const Graph graph = RandomGraph(3, 6, /*seed=*/1);
  IntegerProgram program = SharedProgram(&graph);
  // A branch in a branch in a branch.
  for (int i = 0; i < 100000; ++i) {
    std::vector<PlannedProcedure>& procedures = program.plan.procedures;
    PlannedProcedure around = LeafOfTree(kWeigh);
    around.num_slots = 3;
    around.stages.front().calls = {CallSite{0, {}, {Branch{kLeaf, {S(0)}}}, 2}};
    std::swap(procedures[kLeaf], around);
    procedures[kLeaf].stages.front().calls.front().branches = {
        Branch{static_cast<int32_t>(procedures.size()), {S(0)}}};
    procedures.push_back(around);
  }
  EXPECT_FALSE(FindFlow(program.plan).has_value());
}

IntegerProgram TreeProgram() {
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures = {LookAtNode(/*pushes=*/false), LeafOfTree(1),
                             InnerOfTree(2, 0), InnerOfTree(2, 0)};
  return program;
}

// f(x) calls f(x) twice, and ends nowhere.
IntegerProgram Doubling() {
  IntegerProgram program;
  PlannedProcedure doubling;
  doubling.num_arguments = 1;
  doubling.num_slots = 3;
  Stage calls;
  calls.calls = {CallSite{0, {}, {Branch{0, {S(0)}}}, 1},
                 CallSite{1, {}, {Branch{0, {S(0)}}}, 2}};
  doubling.stages = {calls};
  doubling.outputs = {S(1)};
  program.plan.procedures = {doubling};
  return program;
}

TEST(FlowTest, WhatGrowsWideIsCancelledSoon) {
  const IntegerProgram program = Doubling();
  ActivationLimits limits;
  limits.max_activations = 1 << 14;
  for (const bool follows_each : {false, true}) {
    SCOPED_TRACE(follows_each);
    IntegerRun run(&program, "critical_path", limits);
    if (follows_each) run.set_follows_each();
    run.set_is_cancelled([] { return true; });
    EXPECT_TRUE(run.Run({{0}}, 1).empty());
    EXPECT_TRUE(run.steps().is_cancelled());
    EXPECT_LE(run.steps().num_alive(), 4096);
  }
}

TEST(FlowTest, TreesAreOne) {
  EXPECT_TRUE(FindFlow(TreeProgram().plan).has_value());
}

// f(node) = node + the sum of f of each other, shared.
IntegerProgram SumProgram() {
  IntegerProgram program;
  program.plan.num_prologue_outputs = 1;
  program.prologue = {0};
  program.plan.num_blocks = 2;
  PlannedProcedure body;
  body.is_branch = true;
  body.num_arguments = 1;
  body.num_slots = 5;  // node, count, others, their values, value
  Stage look = Compute(0, {S(0)}, 1, 2);
  look.calls = {CallSite{0, {}, {Branch{kFront, {S(2)}}}, 3}};
  look.calls.front().num_mapped = 1;
  body.stages = {look, Compute(1, {S(0), S(1), S(3)}, 4, 1)};
  body.outputs = {S(4)};
  body.lists = {PlannedList{2, 0, S(1)}, PlannedList{3, 0, S(1)}};
  program.plan.procedures = {Front(/*pushes=*/false), body};
  return program;
}

TEST(FlowTest, ASharedMapIsOne) {
  EXPECT_TRUE(FindFlow(SumProgram().plan).has_value());
}

// Runs nodes that all ask for node 0 at once. Returns them in the order in
// which they push.
std::vector<int64_t> PushedByMany(bool follows_each, int64_t num_nodes) {
  IntegerProgram program = SumProgram();
  program.blocks.resize(2);
  program.launch_blocks[0] = [](const std::vector<Column>& in) {
    std::vector<Column> out(2);
    for (const int64_t node : in[0]) {
      out[0].push_back(node > 0 ? 1 : 0);
      if (node > 0) out[1].push_back(0);
    }
    return out;
  };
  program.launch_blocks[1] = [](const std::vector<Column>& in) {
    Column sums;
    size_t next = 0;
    for (size_t row = 0; row < in[0].size(); ++row) {
      const int64_t of_others = in[1][row] > 0 ? in[2][next++] : 100;
      sums.push_back(in[0][row] + of_others);
    }
    return std::vector<Column>{sums};
  };
  PlannedProcedure& body = program.plan.procedures[kBody];
  body.stages[1].inputs = {{S(0)}, {S(1)}, {S(3)}};
  body.stages[1].pushes = {PlannedPush{0, S(0), S(4)}};
  IntegerRun run(&program);
  EXPECT_TRUE(run.is_flow());
  if (follows_each) run.set_follows_each();
  Column nodes;
  for (int64_t i = 1; i <= num_nodes; ++i) nodes.push_back((i * 5) % 97);
  const auto found = run.Run({nodes}, static_cast<int32_t>(num_nodes));
  for (int64_t i = 0; i < num_nodes; ++i) {
    EXPECT_EQ(found[i], Column{nodes[i] + 100});
  }
  return run.tape().pushed.front().indices;
}

TEST(FlowTest, AllWhoWaitForOneGoOnInTheirOrder) {
  for (const int64_t num_nodes : {1, 5, 6, 7, 90}) {
    SCOPED_TRACE(num_nodes);
    EXPECT_EQ(PushedByMany(/*follows_each=*/false, num_nodes),
              PushedByMany(/*follows_each=*/true, num_nodes));
  }
}

TEST(FlowTest, OneOfListsThatMayBeOfOtherLengthsIsNone) {
  IntegerProgram program = SumProgram();
  PlannedProcedure& body = program.plan.procedures[kBody];
  body.num_slots = 6;
  body.stages[0].num_outputs = 3;  // count, others, more of them
  body.stages[0].calls.front().first_result = 4;
  body.stages[0].calls.front().num_mapped = 2;
  body.stages[0].calls.front().branches.front().arguments = {S(2), S(3)};
  body.stages[1] = Compute(1, {S(0), S(1), S(4)}, 5, 1);
  body.outputs = {S(5)};
  body.lists = {{2, 0, S(1)}, {3, 0, S(1)}, {4, 0, S(1)}};
  EXPECT_TRUE(FindFlow(program.plan).has_value());
  body.lists[1].count = Source::Prologue(0);
  EXPECT_FALSE(FindFlow(program.plan).has_value());
}

TEST(FlowTest, AListThatIsHandedOnIsNone) {
  IntegerProgram returned = SumProgram();
  returned.plan.procedures[kBody].outputs = {S(3)};
  EXPECT_FALSE(FindFlow(returned.plan).has_value());
  IntegerProgram joined = SumProgram();
  joined.plan.procedures[kBody].stages[1].inputs[0].push_back(S(3));
  EXPECT_FALSE(FindFlow(joined.plan).has_value());
  IntegerProgram again = SumProgram();
  CallSite map = again.plan.procedures[kBody].stages[0].calls.front();
  map.branches.front().arguments = {S(3)};
  map.first_result = 5;
  again.plan.procedures[kBody].num_slots = 6;
  again.plan.procedures[kBody].lists.push_back({5, 0, S(1)});
  Stage second;
  second.calls = {map};
  again.plan.procedures[kBody].stages.push_back(second);
  EXPECT_FALSE(FindFlow(again.plan).has_value());
}

TEST(FlowTest, WhatCallsAnotherSubGraphIsNone) {
  IntegerProgram trees = TreeProgram();
  trees.plan.procedures.push_back(LookAtNode(/*pushes=*/false));
  trees.plan.procedures[3].stages.front().calls.front().branches = {
      Branch{4, {S(0)}}};
  EXPECT_FALSE(FindFlow(trees.plan).has_value());
  const Graph graph = RandomGraph(3, 6, /*seed=*/1);
  IntegerProgram shared = SharedProgram(&graph);
  EXPECT_TRUE(FindFlow(shared.plan).has_value());
  PlannedProcedure other = LeafOfTree(kWeigh);
  other.is_branch = false;
  shared.plan.procedures.push_back(other);
  shared.plan.procedures[kInner].stages.front().calls.front().branches = {
      Branch{kInner + 1, {S(0)}}};
  EXPECT_FALSE(FindFlow(shared.plan).has_value());
}

TEST(FlowTest, AFrontThatPushesIsNone) {
  const Graph graph = RandomGraph(3, 6, /*seed=*/1);
  const IntegerProgram pushing =
      SharedProgram(&graph, /*every_call_pushes=*/true);
  EXPECT_FALSE(FindFlow(pushing.plan).has_value());
}

}  // namespace
}  // namespace recursive_tf
