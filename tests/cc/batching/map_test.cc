// Maps in lock step: a call for each item of a list, of which there may be any
// number, and other ones for each activation.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/launch_bound.h"
#include "recursive_tf/cc/batching/lists.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/plan_decoder.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

namespace recursive_tf {
namespace {

using Children = std::vector<std::vector<int64_t>>;
using Launches = std::vector<std::pair<int32_t, size_t>>;

// f(node) = node + 3 * the sum of f(child), with the blocks
//   0: nodes -> how many children each has, children
//   1: nodes, counts, results of children -> values
PlannedProcedure SumOfChildren() {
  PlannedProcedure f;
  f.num_arguments = 1;
  f.num_slots = 5;  // node, count, children, their values, value
  Stage look = Compute(0, {S(0)}, 1, 2);
  CallSite map{0, {}, {Branch{0, {S(2)}}}, 3};
  map.num_mapped = 1;
  look.calls = {map};
  f.stages = {look, Compute(1, {S(0), S(1), S(3)}, 4, 1)};
  f.outputs = {S(4)};
  f.lists = {PlannedList{2, 0, S(1)}, PlannedList{3, 0, S(1)}};
  return f;
}

IntegerProgram SumOverTrees(const Children* children) {
  IntegerProgram program;
  program.plan.num_prologue_outputs = 1;
  program.plan.num_blocks = 2;
  program.plan.procedures = {SumOfChildren()};
  program.prologue = {0};
  program.launch_blocks[0] = [children](const std::vector<Column>& in) {
    std::vector<Column> out(2);
    for (const int64_t node : in[0]) {
      const std::vector<int64_t>& own = children->at(node);
      out[0].push_back(static_cast<int64_t>(own.size()));
      out[1].insert(out[1].end(), own.begin(), own.end());
    }
    return out;
  };
  program.launch_blocks[1] = [](const std::vector<Column>& in) {
    Column sums;
    auto item = in[2].begin();
    for (size_t row = 0; row < in[0].size(); ++row) {
      const auto end = item + in[1][row];
      sums.push_back(in[0][row] + 3 * std::accumulate(item, end, int64_t{0}));
      item = end;
    }
    EXPECT_EQ(item, in[2].end());
    return std::vector<Column>{sums};
  };
  return program;
}

int64_t Sum(const Children& children, int64_t node) {
  int64_t sum = node;
  for (const int64_t child : children[node]) sum += 3 * Sum(children, child);
  return sum;
}

// Node 6 has all numbers of children below it, from none to three.
Children SomeChildren() { return {{}, {0}, {}, {1, 2, 0}, {3}, {}, {4, 5}}; }

class MapTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Policies, MapTest, testing::Values("agenda", "depth"));

TEST_P(MapTest, CallsForEachItemOfEachActivation) {
  const Children children = SomeChildren();
  const IntegerProgram program = SumOverTrees(&children);
  IntegerRun run(&program, GetParam());
  std::vector<Column> expected;
  for (const int64_t node : {6, 0, 3, 6}) {
    expected.push_back({Sum(children, node)});
  }
  EXPECT_EQ(run.Run({{6, 0, 3, 6}}, 4), expected);
}

TEST_P(MapTest, NothingIsAliveInTheEndButTheResults) {
  const Children children = SomeChildren();
  const IntegerProgram program = SumOverTrees(&children);
  for (const bool follows_each : {false, true}) {
    IntegerRun run(&program, GetParam());
    if (follows_each) run.set_follows_each();
    run.Run({{6}}, 1);
    EXPECT_EQ(run.num_alive(), 2);  // With the output of the prologue.
    EXPECT_EQ(run.steps().num_alive(), 0);
    if (!follows_each) continue;
    EXPECT_EQ(run.lock_step().lists().num_alive(), 0);
  }
}

TEST(MapInLockStepTest, AllItemsAreTakenToOneLaunch) {
  const Children children = SomeChildren();
  const IntegerProgram program = SumOverTrees(&children);
  IntegerRun run(&program);
  run.Run({{6}}, 1);
  EXPECT_EQ(run.launches(), (Launches{{0, 1},
                                      {0, 2},
                                      {0, 1},
                                      {0, 3},
                                      {0, 1},
                                      {1, 4},
                                      {1, 1},
                                      {1, 1},
                                      {1, 1},
                                      {1, 1}}));
}

TEST(MapInLockStepTest, ItemsOfAGradientGoWhereTheyCameFrom) {
  const Children children = {{}, {0, 0, 0}};
  const IntegerProgram program = SumOverTrees(&children);
  IntegerRun run(&program);
  run.Run({{1}}, 1);
  // The last launch is of the root: its items are rows of the one before.
  const auto& launches = run.tape().launches;
  const Rows& items = launches.back().inputs[2].front();
  EXPECT_EQ(items.num_rows(), 3);
  EXPECT_EQ(items.runs(),
            (std::vector<RowRun>{
                {launches[launches.size() - 2].first_value, 0, 3, 1}}));
}

TEST(MapInLockStepTest, AResultThatNobodyReadsIsNotKept) {
  const Children children = SomeChildren();
  IntegerProgram program = SumOverTrees(&children);
  PlannedProcedure& f = program.plan.procedures.front();
  f.stages[1].inputs.pop_back();
  f.lists.pop_back();
  f.num_slots = 5;
  program.launch_blocks.erase(1);
  program.blocks = {{}, [](const Column& in) { return Column{in[1]}; }};
  IntegerRun run(&program);
  run.set_follows_each();
  EXPECT_EQ(run.Run({{6}}, 1), (std::vector<Column>{{2}}));
  EXPECT_EQ(run.lock_step().lists().num_alive(), 0);
  IntegerRun flow(&program);
  EXPECT_EQ(flow.Run({{6}}, 1), (std::vector<Column>{{2}}));
  EXPECT_EQ(flow.num_alive(), run.num_alive());
}

TEST(MapInLockStepTest, ARefusedCallSaysWhichItemItIsFor) {
  const Children children = {{}, {0, 0, 0, 0, 0}};
  const IntegerProgram program = SumOverTrees(&children);
  IntegerRun run(&program, "agenda", ActivationLimits{0, 4});
  EXPECT_TRUE(run.Run({{1}}, 1).empty());
  const auto& refused = run.steps().refused_call();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(run.steps().PathOf(*refused, false, {"f"}), "f → call#0[3]");
}

TEST(MapInLockStepTest, AChainIsAsLongAsMemory) {
  Children children(20000);
  for (size_t node = 1; node < children.size(); ++node) {
    children[node] = {static_cast<int64_t>(node) - 1};
  }
  IntegerProgram program = SumOverTrees(&children);
  program.launch_blocks[1] = [](const std::vector<Column>& in) {
    const int64_t below = in[2].empty() ? 0 : in[2].front();
    return std::vector<Column>{{(in[0].front() + 3 * below) % 1009}};
  };
  int64_t expected = 0;
  for (int64_t node = 0; node < 20000; ++node) {
    expected = (node + 3 * expected) % 1009;
  }
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{19999}}, 1), (std::vector<Column>{{expected}}));
}

TEST(ListsTest, APlaceIsUsedAgain) {
  Lists lists;
  const ValueRow list = lists.Add(2);
  EXPECT_TRUE(Lists::IsList(list));
  lists.Set(list, 0, {7, 1});
  lists.Set(list, 1, {7, 2});
  lists.Hold(list);
  lists.Hold(list);
  std::vector<ValueRow> released;
  const auto release = [&released](ValueRow row) { released.push_back(row); };
  lists.LetGo(list, release);
  EXPECT_TRUE(released.empty());
  lists.LetGo(list, release);
  EXPECT_EQ(released, (std::vector<ValueRow>{{7, 1}, {7, 2}}));
  EXPECT_EQ(lists.num_alive(), 0);
  EXPECT_EQ(lists.Add(0), list);
  EXPECT_EQ(lists.Count(list), 0);
}

TEST(ListsInLaunchBoundTest, ChainsGoThroughItems) {
  LaunchBound bound(1);
  bound.AddValues(1, 2);
  Rows rows;
  rows.Add({0, 0});
  rows.Add({0, 1});
  Launch nodes;
  nodes.block = 0;
  nodes.activations = {0, 1};
  nodes.inputs = {{rows}};
  bound.Add(nodes, std::vector<ValueRow>(nodes.activations.size()), 1);
  bound.Spread(1, {0, 3});
  Rows items;
  items.Add({1, 0});
  items.Add({1, 2});
  Launch parents = nodes;
  parents.inputs = {{items}};
  parents.list_inputs = {ListInput{0, 0, {0, 2}}};
  bound.Add(parents, std::vector<ValueRow>(parents.activations.size()), 1);
  EXPECT_EQ(bound.Get(), 2);
}

// SumOfChildren, as encoding.py writes it.
std::vector<int64_t> Code() {
  return {
      3, 1, 2, 1,                       // version, prologue, blocks, procedures
      0, 1, 5, 1, 4, 0,                 // f: an argument, 5 slots, returns 4
      2,                                //   two stages:
      0, 1, 1, 0, 1, 2, 0,              //     block 0 of slot 0, to 1 and 2
      1, 0, 1, 0, 0, 3, 1, 0, 1, 2,     //     a map over slot 2, to slot 3
      1, 3, 1, 0, 1, 1, 1, 3, 4, 1, 0,  //     block 1 of 0, 1 and 3, to 4
      0,                                //     no calls
      2, 2, 0, 1, 3, 0, 1,              //   lists 2 and 3, counted by slot 1
  };
}

TEST(MapPlanTest, APlanThatWasReadRuns) {
  const Children children = SomeChildren();
  const std::vector<int64_t> code = Code();
  IntegerProgram program = SumOverTrees(&children);
  program.plan = Plan();
  PlanDecoder decoder(&code);
  ASSERT_TRUE(decoder.Decode(&program.plan)) << decoder.error();
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{6}}, 1), (std::vector<Column>{{Sum(children, 6)}}));
}

std::string ErrorOf(const std::vector<int64_t>& code) {
  Plan plan;
  PlanDecoder decoder(&code);
  decoder.Decode(&plan);
  return decoder.error();
}

std::string ErrorWith(size_t place, int64_t number) {
  std::vector<int64_t> code = Code();
  code[place] = number;
  return ErrorOf(code);
}

TEST(MapPlanTest, AListIsNoRow) {
  const std::string mistaken =
      "The plan is damaged: it mistakes a list for a row, or a row for one.";
  EXPECT_EQ(ErrorWith(8, 2), mistaken);   // f returns its children.
  EXPECT_EQ(ErrorWith(20, 0), mistaken);  // One call gets a list.
  EXPECT_EQ(ErrorWith(27, 0), mistaken);  // A map is over a row.
}

// A front that looks up items, and shares its body by the key in a slot.
std::vector<int64_t> SharedBy(int64_t key_slot) {
  return {
      3, 1, 1, 2,                           // as above
      0, 1, 4, 1, 3,        0,              // the front: returns slot 3
      1,                                    //   one stage:
      0, 1, 1, 0, 1,        2, 0,           //     block 0 of slot 0, to 1, 2
      1, 0, 0, 2, key_slot, 3, 1, 1, 1, 0,  //     the body, to slot 3
      1, 2, 0, 1,                           //   list 2, counted by slot 1
      1, 1, 1, 1, 0,        0, 0, 0,        // the body returns its argument
  };
}

TEST(MapPlanTest, AListIsNoKey) {
  EXPECT_EQ(ErrorOf(SharedBy(1)), "");
  EXPECT_EQ(
      ErrorOf(SharedBy(2)),
      "The plan is damaged: it mistakes a list for a row, or a row for one.");
}

TEST(MapPlanTest, ACountIsThere) {
  std::vector<int64_t> code = Code();
  const size_t count = code.size() - 4;
  EXPECT_EQ(ErrorWith(count, 4),
            "The plan is damaged: it counts by a value that is not there.");
  EXPECT_EQ(ErrorWith(count - 1, 1),
            "The plan is damaged: it names a list that is not there.");
  EXPECT_EQ(ErrorWith(count - 2, 5),
            "The plan is damaged: it names a list that is not there.");
}

// But what lists are counted by: there must be an item where one is counted,
// which a host checks.
TEST(MapPlanTest, WhateverNumberIsChangedAPlanThatIsReadCanBeRun) {
  const std::vector<int64_t> code = Code();
  int num_read = 0;
  for (size_t i = 1; i < code.size() - 7; ++i) {
    for (const int64_t changed : {-100, -2, -1, 0, 1, 2, 3, 4, 100}) {
      std::vector<int64_t> other = code;
      other[i] = changed;
      IntegerProgram program;
      if (!PlanDecoder(&other).Decode(&program.plan)) continue;
      ++num_read;
      program.prologue = Column(program.plan.num_prologue_outputs, 0);
      for (const Stage& stage : program.plan.procedures.front().stages) {
        if (stage.block == kNoBlock) continue;
        program.launch_blocks[stage.block] =
            [count = stage.num_outputs](const std::vector<Column>& in) {
              const size_t rows = in.empty() ? 3 : in.front().size();
              return std::vector<Column>(count, Column(rows, 1));
            };
      }
      IntegerRun run(&program, "agenda", ActivationLimits{20, 100});
      const std::vector<Column> arguments(
          program.plan.procedures.front().num_arguments, Column{1, 2, 3});
      EXPECT_NO_THROW(run.Run(arguments, 3)) << i << " is " << changed;
    }
  }
  EXPECT_GT(num_read, 20);
}

}  // namespace
}  // namespace recursive_tf
