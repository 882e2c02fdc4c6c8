#include "recursive_tf/cc/batching/lock_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/calls.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"
#include "tests/cc/batching/lock_step_programs.h"

namespace recursive_tf {
namespace {

using Launches = std::vector<std::pair<int32_t, size_t>>;

TEST(LockStepTest, WaitsForAllOfABlockThatCanStillCome) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program);
  run.Run({{3}}, 1);
  // fib(3) calls 2 and 1; 2 calls 1 and 0.
  EXPECT_EQ(run.launches(),
            (Launches{{0, 1}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {2, 1}, {2, 1}}));
}

int Height(const Forest& forest, int64_t node) {
  if (forest.kind[node] == Forest::kLeaf) return 0;
  return 1 + std::max(Height(forest, forest.left[node]),
                      Height(forest, forest.right[node]));
}

TEST(LockStepTest, TreesOfOneKindTakeAsManyLaunchesAsTheyAreHigh) {
  Forest forest = MakeForest(20, 30, /*seed=*/1);
  int height = 0;
  for (Forest::Kind& kind : forest.kind) {
    if (kind == Forest::kProduct) kind = Forest::kSum;
  }
  for (const int64_t root : forest.roots) {
    height = std::max(height, Height(forest, root));
  }
  const IntegerProgram program = ForestProgram(&forest);
  IntegerRun run(&program);
  run.Run({forest.roots}, 20);
  // Looked at level by level, the leaves once, then as many sums as levels:
  // the lower bound (ED-Batch, appendix A.3).
  EXPECT_EQ(run.launches().size(), (height + 1) + 1 + height);
}

TEST(LockStepTest, AnEndedActivationMakesPlaceForTheNext) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program);
  run.Run({{20}}, 1);
  EXPECT_LT(run.steps().max_alive(), 2 * 21891);
  EXPECT_EQ(run.steps().num_alive(), 0);
}

TEST(LockStepTest, ABranchInPlaceIsNotOnThePath) {
  const IntegerProgram program = Beside();
  IntegerRun run(&program, "agenda", ActivationLimits{/*max_depth=*/2});
  EXPECT_TRUE(run.Run({{3}}, 1).empty());
  const std::optional<RefusedCall>& refused = run.steps().refused_call();
  ASSERT_TRUE(refused.has_value());
  const std::vector<std::string> names(7, "f");
  EXPECT_EQ(run.steps().PathOf(*refused, false, names), "f → call#0 → call#0");
}

// f(n) = n, after a loop that turns as long as n is not 0: without a block.
IntegerProgram LoopOfNoBlock() {
  enum : uint8_t { kF, kLoop, kEnd, kTurn };
  IntegerProgram program;
  program.plan.procedures.resize(4);

  PlannedProcedure& f = program.plan.procedures[kF];
  f.num_arguments = 1;
  f.num_slots = 2;  // n, the last n
  Stage start;
  start.calls = {CallSite{0, {}, {Branch{kLoop, {S(0)}}}, 1}};
  f.stages = {start};
  f.outputs = {S(1)};

  PlannedProcedure& loop = program.plan.procedures[kLoop];
  loop.is_branch = true;
  loop.num_arguments = 1;
  loop.num_slots = 2;
  Stage look;
  look.calls = {
      CallSite{0, S(0), {Branch{kEnd, {S(0)}}, Branch{kTurn, {S(0)}}}, 1}};
  loop.stages = {look};
  loop.outputs = {S(1)};

  program.plan.procedures[kEnd] = Returned();

  PlannedProcedure& turn = program.plan.procedures[kTurn];
  turn.is_branch = true;
  turn.num_arguments = 1;
  turn.num_slots = 1;
  turn.goes_on = Branch{kLoop, {S(0)}};
  return program;
}

TEST(LockStepTest, ALoopThatLaunchesNothingEndsWhereItDoesNotTurn) {
  const IntegerProgram program = LoopOfNoBlock();
  IntegerRun run(&program);
  EXPECT_EQ(Flat(run.Run({{0, 0}}, 2)), (Column{0, 0}));
}

TEST(LockStepTest, ALoopThatLaunchesNothingTurnsUntilItIsCancelled) {
  const IntegerProgram program = LoopOfNoBlock();
  IntegerRun run(&program);
  int times_asked = 0;
  run.set_is_cancelled([&times_asked] { return ++times_asked == 3; });
  EXPECT_TRUE(run.Run({{0, 1}}, 2).empty());
  EXPECT_TRUE(run.steps().is_cancelled());
  EXPECT_EQ(times_asked, 3);
}

TEST(LockStepTest, ALoopIsOneActivationHoweverOftenItTurns) {
  const IntegerProgram program = LoopAroundACall();
  IntegerRun run(&program);
  run.Run({{12}}, 1);
  EXPECT_EQ(run.steps().max_alive(), 13);
}

TEST(LockStepTest, ASelectorOutOfRangeTakesTheLastBranch) {
  Forest forest;
  forest.kind = {static_cast<Forest::Kind>(-1), Forest::kLeaf,
                 static_cast<Forest::Kind>(9), Forest::kLeaf};
  forest.left = {1, -1, 3, -1};
  forest.right = {3, -1, 1, -1};
  const IntegerProgram program = ForestProgram(&forest);
  IntegerRun run(&program);
  // A product of 3 and 5.
  EXPECT_EQ(Flat(run.Run({{0, 2}}, 2)), (Column{16, 16}));
}

TEST(LockStepTest, ACallBelowMaxDepthIsRefusedWithItsPath) {
  const IntegerProgram program = Chain();
  IntegerRun run(&program, "agenda", ActivationLimits{3, 0});
  EXPECT_TRUE(run.Run({{1, 5}}, 2).empty());
  const auto& refusal = run.steps().refused_call();
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->verdict, ActivationTree::Verdict::kTooDeep);
  EXPECT_EQ(refusal->site, 7);
  EXPECT_EQ(run.steps().PathOf(refusal->caller, /*mapped=*/true,
                               {"chain", "chain", "chain"}),
            "chain[row 1] → call#7 → call#7");
}

TEST(LockStepTest, ADepthOfExactlyMaxDepthIsFine) {
  const IntegerProgram program = Chain();
  IntegerRun run(&program, "agenda", ActivationLimits{4, 0});
  EXPECT_EQ(Flat(run.Run({{3}}, 1)), Column{3});
}

TEST(LockStepTest, MaxActivationsCountsInvocationsAndNotBranches) {
  const IntegerProgram program = Chain();
  IntegerRun enough(&program, "agenda", ActivationLimits{0, 4});
  EXPECT_EQ(Flat(enough.Run({{3}}, 1)), Column{3});
  IntegerRun few(&program, "agenda", ActivationLimits{0, 3});
  EXPECT_TRUE(few.Run({{3}}, 1).empty());
  ASSERT_TRUE(few.steps().refused_call().has_value());
  EXPECT_EQ(few.steps().refused_call()->verdict,
            ActivationTree::Verdict::kTooMany);
}

TEST(LockStepTest, MaxActivationsCountsRows) {
  const IntegerProgram program = Chain();
  IntegerRun run(&program, "agenda", ActivationLimits{0, 2});
  EXPECT_TRUE(run.Run({{0, 0, 0}}, 3).empty());
}

}  // namespace
}  // namespace recursive_tf
