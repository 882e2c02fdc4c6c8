#include "recursive_tf/cc/batching/lock_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

namespace recursive_tf {
namespace {

using Launches = std::vector<std::pair<int32_t, size_t>>;

std::vector<int64_t> Flat(const std::vector<Column>& results) {
  std::vector<int64_t> flat;
  for (const Column& row : results) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

// f(n) = n < 2 ? n : f(n - 1) + f(n - 2), with the blocks
//   0: n -> n >= 2
//   1: n -> n - 1, n - 2
//   2: a, b -> a + b
IntegerProgram Fib() {
  enum : uint8_t { kFib, kBase, kMore };
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures.resize(3);

  PlannedProcedure& fib = program.plan.procedures[kFib];
  fib.num_arguments = 1;
  fib.num_slots = 3;  // n, n >= 2, result
  Stage decide = Compute(0, {S(0)}, 1, 1);
  decide.calls = {
      CallSite{0, S(1), {Branch{kBase, {S(0)}}, Branch{kMore, {S(0)}}}, 2}};
  fib.stages = {decide};
  fib.outputs = {S(2)};

  program.plan.procedures[kBase] = Returned();

  PlannedProcedure& more = program.plan.procedures[kMore];
  more.is_branch = true;
  more.num_arguments = 1;
  more.num_slots = 6;  // n, n - 1, n - 2, fib(n - 1), fib(n - 2), sum
  Stage split = Compute(1, {S(0)}, 1, 2);
  split.calls = {CallSite{0, {}, {Branch{kFib, {S(1)}}}, 3},
                 CallSite{1, {}, {Branch{kFib, {S(2)}}}, 4}};
  Stage add = Compute(2, {S(3), S(4)}, 5, 1);
  more.stages = {split, add};
  more.outputs = {S(5)};

  program.blocks = {
      [](const Column& in) { return Column{in[0] >= 2}; },
      [](const Column& in) { return Column{in[0] - 1, in[0] - 2}; },
      [](const Column& in) { return Column{in[0] + in[1]}; },
  };
  return program;
}

int64_t FibOf(int64_t n) { return n < 2 ? n : FibOf(n - 1) + FibOf(n - 2); }

class PolicyTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Policies, PolicyTest,
                         testing::Values("agenda", "depth",
                                         // As if launching early paid.
                                         "fsm base 0,1:1 0,2:2 0,2,3:3 2,3:3"));

TEST_P(PolicyTest, ComputesARecursionOfEachRow) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program, GetParam());
  const Column n = {0, 1, 2, 3, 10, 7, 15};
  Column expected;
  for (const int64_t x : n) expected.push_back(FibOf(x));
  EXPECT_EQ(Flat(run.Run({n}, 7)), expected);
}

TEST_P(PolicyTest, EqualRowsAreComputedOnceForAll) {
  const IntegerProgram program = Fib();
  IntegerRun each(&program, GetParam());
  IntegerRun shared(&program, GetParam());
  shared.set_shares_rows();
  const Column n = {12, 3, 12, 0, 9};
  EXPECT_EQ(shared.Run({n}, 5), each.Run({n}, 5));
  EXPECT_EQ(shared.num_alive(), each.num_alive());
  EXPECT_EQ(shared.steps().activations().num_alive(), 0);
  // As many launches, of no more rows than there are numbers.
  ASSERT_EQ(shared.launches().size(), each.launches().size());
  for (size_t i = 0; i < each.launches().size(); ++i) {
    EXPECT_EQ(shared.launches()[i].first, each.launches()[i].first);
    EXPECT_LE(shared.launches()[i].second, 13);
  }
}

TEST_P(PolicyTest, NoRowsNeedNoLaunch) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program, GetParam());
  EXPECT_TRUE(run.Run({{}}, 0).empty());
  EXPECT_TRUE(run.launches().empty());
}

TEST_P(PolicyTest, EverythingButTheResultsIsGoneInTheEnd) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program, GetParam());
  run.Run({{12}}, 1);
  EXPECT_EQ(run.num_alive(), 1);
  EXPECT_EQ(run.steps().activations().num_alive(), 0);
}

TEST_P(PolicyTest, TwoRunsLaunchTheSame) {
  const IntegerProgram program = Fib();
  IntegerRun one(&program, GetParam());
  IntegerRun other(&program, GetParam());
  one.Run({{9, 4, 11}}, 3);
  other.Run({{9, 4, 11}}, 3);
  EXPECT_EQ(one.launches(), other.launches());
}

TEST(LockStepTest, WaitsForAllOfABlockThatCanStillCome) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program);
  run.Run({{3}}, 1);
  // fib(3) calls 2 and 1; 2 calls 1 and 0.
  EXPECT_EQ(run.launches(),
            (Launches{{0, 1}, {1, 1}, {0, 2}, {1, 1}, {0, 2}, {2, 1}, {2, 1}}));
}

TEST_P(PolicyTest, EvaluatesThousandsOfRandomForests) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const auto size = static_cast<int>(seed);
    const Forest forest = MakeForest(size % 9, 1 + size % 23, seed);
    const IntegerProgram program = ForestProgram(&forest);
    IntegerRun run(&program, GetParam());
    Column expected;
    for (const int64_t root : forest.roots) {
      expected.push_back(Evaluate(forest, root));
    }
    const auto num_rows = static_cast<int32_t>(forest.roots.size());
    ASSERT_EQ(Flat(run.Run({forest.roots}, num_rows)), expected) << seed;
    ASSERT_EQ(run.steps().activations().num_alive(), 0) << seed;
  }
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

TEST_P(PolicyTest, PushesEveryRowOnce) {
  const Forest forest = MakeForest(5, 20, /*seed=*/2);
  const IntegerProgram program = ForestProgram(&forest, /*pushes=*/true);
  IntegerRun run(&program, GetParam());
  run.Run({forest.roots}, 5);
  const std::map<int64_t, int64_t>& table = run.tables().at(0);
  ASSERT_EQ(table.size(), forest.kind.size());
  for (const auto& [node, value] : table) {
    EXPECT_EQ(value, Evaluate(forest, node));
  }
}

TEST_P(PolicyTest, APushThatIsRefusedEndsTheRunAndNamesItsActivation) {
  const Forest forest = MakeForest(1, 20, /*seed=*/2);
  const IntegerProgram program = ForestProgram(&forest, /*pushes=*/true);
  IntegerRun run(&program, GetParam());
  EXPECT_TRUE(run.Run({{0, 0}}, 2).empty());
  ASSERT_TRUE(run.steps().refused_push().has_value());
  const int32_t id = *run.steps().refused_push();
  EXPECT_EQ(run.steps().SubGraphOf(id), kTree);
  EXPECT_EQ(run.steps().PathOf(id, /*mapped=*/true, {"tree"}), "tree[row 1]");
}

// f(n) = n == 0 ? 0 : f(n - 1) + 1, with the blocks
//   0: n -> n > 0, n - 1      1: x -> x + 1
IntegerProgram Chain() {
  enum : uint8_t { kChain, kBase, kMore };
  IntegerProgram program;
  program.plan.num_blocks = 2;
  program.plan.procedures.resize(3);
  PlannedProcedure& chain = program.plan.procedures[kChain];
  chain.num_arguments = 1;
  chain.num_slots = 4;  // n, n > 0, n - 1, result
  Stage decide = Compute(0, {S(0)}, 1, 2);
  decide.calls = {
      CallSite{0, S(1), {Branch{kBase, {S(0)}}, Branch{kMore, {S(2)}}}, 3}};
  chain.stages = {decide};
  chain.outputs = {S(3)};
  program.plan.procedures[kBase] = Returned();
  PlannedProcedure& more = program.plan.procedures[kMore];
  more.is_branch = true;
  more.num_arguments = 1;
  more.num_slots = 3;
  Stage descend;
  descend.calls = {CallSite{7, {}, {Branch{kChain, {S(0)}}}, 1}};
  Stage add = Compute(1, {S(1)}, 2, 1);
  more.stages = {descend, add};
  more.outputs = {S(2)};
  program.blocks = {
      [](const Column& in) { return Column{in[0] > 0, in[0] - 1}; },
      [](const Column& in) { return Column{in[0] + 1}; },
  };
  return program;
}

TEST_P(PolicyTest, AChainMayBeAHundredThousandLong) {
  constexpr int64_t kLength = 100000;
  const IntegerProgram program = Chain();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{kLength}}, 1)), Column{kLength});
  // Going down, a level needs none of its values any more.
  EXPECT_LE(run.max_alive(), 8);
}

TEST(LockStepTest, AnEndedActivationMakesPlaceForTheNext) {
  const IntegerProgram program = Fib();
  IntegerRun run(&program);
  run.Run({{20}}, 1);
  EXPECT_LT(run.steps().activations().max_alive(), 2 * 21891);
  EXPECT_EQ(run.steps().activations().num_alive(), 0);
}

// f(n) = 1 + (n >= 1 ? f(n - 1) : 0) + (n >= 2 ? g(n) : 0), where g(n) is
// f(n - 2) for odd n and 0 for others: two conditionals that are waited for
// together, and in one of them a third. The blocks are
//   0: n -> n >= 1, n >= 2, 0
//   1: n -> n - 1
//   2: n -> n is odd
//   3: n -> n - 2
//   4: a, b -> 1 + a + b
IntegerProgram Beside() {
  enum : uint8_t { kF, kZero, kMore, kSame, kG, kEven, kOdd };
  IntegerProgram program;
  program.plan.num_blocks = 5;
  program.plan.procedures.resize(7);

  PlannedProcedure& f = program.plan.procedures[kF];
  f.num_arguments = 1;
  f.num_slots = 7;  // n, n >= 1, n >= 2, 0, a, b, result
  Stage decide = Compute(0, {S(0)}, 1, 3);
  decide.calls = {
      CallSite{0, S(1), {Branch{kZero, {S(3)}}, Branch{kMore, {S(0)}}}, 4},
      CallSite{0, S(2), {Branch{kSame, {S(3)}}, Branch{kG, {S(0), S(3)}}}, 5}};
  f.stages = {decide, Compute(4, {S(4), S(5)}, 6, 1)};
  f.outputs = {S(6)};

  for (const uint8_t branch : {kZero, kSame, kEven}) {
    program.plan.procedures[branch] = Returned();
  }
  for (const uint8_t branch : {kMore, kOdd}) {
    PlannedProcedure& more = program.plan.procedures[branch];
    more.is_branch = true;
    more.num_arguments = 1;
    more.num_slots = 3;  // n, less than n, result
    Stage call = Compute(branch == kMore ? 1 : 3, {S(0)}, 1, 1);
    call.calls = {CallSite{branch == kOdd, {}, {Branch{kF, {S(1)}}}, 2}};
    more.stages = {call};
    more.outputs = {S(2)};
  }
  PlannedProcedure& g = program.plan.procedures[kG];
  g.is_branch = true;
  g.num_arguments = 2;
  g.num_slots = 4;  // n, 0, n is odd, result
  Stage look = Compute(2, {S(0)}, 2, 1);
  look.calls = {
      CallSite{0, S(2), {Branch{kEven, {S(1)}}, Branch{kOdd, {S(0)}}}, 3}};
  g.stages = {look};
  g.outputs = {S(3)};

  program.blocks = {
      [](const Column& in) { return Column{in[0] >= 1, in[0] >= 2, 0}; },
      [](const Column& in) { return Column{in[0] - 1}; },
      [](const Column& in) { return Column{in[0] % 2}; },
      [](const Column& in) { return Column{in[0] - 2}; },
      [](const Column& in) { return Column{1 + in[0] + in[1]}; },
  };
  return program;
}

int64_t BesideOf(int64_t n) {
  return 1 + (n >= 1 ? BesideOf(n - 1) : 0) +
         (n >= 2 && n % 2 == 1 ? BesideOf(n - 2) : 0);
}

TEST_P(PolicyTest, ConditionalsBesideEachOtherDoNotWaitForEachOther) {
  const IntegerProgram program = Beside();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{0, 1, 2, 3, 9}}, 5)),
            (Column{BesideOf(0), BesideOf(1), BesideOf(2), BesideOf(3),
                    BesideOf(9)}));
  EXPECT_EQ(run.steps().activations().num_alive(), 0);
  // The second is taken before the first returns anything.
  std::vector<int32_t> blocks;
  for (const auto& [block, num_rows] : run.launches()) blocks.push_back(block);
  EXPECT_LT(std::find(blocks.begin(), blocks.end(), 2),
            std::find(blocks.begin(), blocks.end(), 4));
}

TEST(LockStepTest, ABranchInPlaceIsNotOnThePath) {
  const IntegerProgram program = Beside();
  IntegerRun run(&program, "agenda", ActivationLimits{/*max_depth=*/2});
  EXPECT_TRUE(run.Run({{3}}, 1).empty());
  const std::optional<Calls::Refusal>& refused = run.steps().refused_call();
  ASSERT_TRUE(refused.has_value());
  const std::vector<std::string> names(7, "f");
  EXPECT_EQ(run.steps().PathOf(*refused, false, names), "f → call#0 → call#0");
}

// f(n) = the sum of 1 + f(k) for all k < n, in a loop, which is 2^n - 1; the
// blocks are
//   0: n -> 0, 0
//   1: k, n -> k < n
//   2: f(k), k, sum -> k + 1, sum + 1 + f(k)
IntegerProgram LoopAroundACall() {
  enum : uint8_t { kF, kLoop, kEnd, kTurn };
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures.resize(4);

  PlannedProcedure& f = program.plan.procedures[kF];
  f.num_arguments = 1;
  f.num_slots = 5;  // n, 0, 0, the last k, the last sum
  Stage start = Compute(0, {S(0)}, 1, 2);
  start.calls = {CallSite{0, {}, {Branch{kLoop, {S(1), S(2), S(0)}}}, 3}};
  f.stages = {start};
  f.outputs = {S(4)};

  PlannedProcedure& loop = program.plan.procedures[kLoop];
  loop.is_branch = true;
  loop.num_arguments = 3;
  loop.num_slots = 6;  // k, sum, n, k < n, the last k, the last sum
  Stage look = Compute(1, {S(0), S(2)}, 3, 1);
  look.calls = {
      CallSite{0,
               S(3),
               {Branch{kEnd, {S(0), S(1)}}, Branch{kTurn, {S(0), S(1), S(2)}}},
               4}};
  loop.stages = {look};
  loop.outputs = {S(4), S(5)};

  PlannedProcedure& end = program.plan.procedures[kEnd];
  end.is_branch = true;
  end.num_arguments = 2;
  end.num_slots = 2;
  end.outputs = {S(0), S(1)};

  PlannedProcedure& turn = program.plan.procedures[kTurn];
  turn.is_branch = true;
  turn.num_arguments = 3;
  turn.num_slots = 6;  // k, sum, n, f(k), k + 1, the next sum
  Stage call;
  call.calls = {CallSite{0, {}, {Branch{kF, {S(0)}}}, 3}};
  turn.stages = {call, Compute(2, {S(3), S(0), S(1)}, 4, 2)};
  turn.goes_on = Branch{kLoop, {S(4), S(5), S(2)}};

  program.blocks = {
      [](const Column& /*in*/) { return Column{0, 0}; },
      [](const Column& in) { return Column{in[0] < in[1]}; },
      [](const Column& in) { return Column{in[1] + 1, in[2] + 1 + in[0]}; },
  };
  return program;
}

TEST_P(PolicyTest, ALoopAroundACallTurnsAsOftenAsEachRowWants) {
  const IntegerProgram program = LoopAroundACall();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{0, 5, 1, 9, 2}}, 5)), (Column{0, 31, 1, 511, 3}));
  EXPECT_EQ(run.steps().activations().num_alive(), 0);
  // But for the results, which are of one launch each.
  EXPECT_LE(run.num_alive(), 5);
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
  EXPECT_EQ(run.steps().activations().max_alive(), 13);
}

// even(n) = n == 0 ? 1 : odd(n - 1), and odd the other way round: the blocks
// 0 and 1 of the two SubGraphs lead to each other.
IntegerProgram EvenAndOdd() {
  enum : uint8_t { kEven, kEvenMore, kOdd, kOddMore, kBase };
  IntegerProgram program;
  program.plan.num_blocks = 2;
  program.plan.num_prologue_outputs = 2;
  program.prologue = {1, 0};
  program.plan.procedures.resize(5);
  for (const int32_t p : {kEven, kOdd}) {
    PlannedProcedure& parity = program.plan.procedures[p];
    parity.num_arguments = 1;
    parity.num_slots = 4;  // n, n > 0, n - 1, result
    Stage decide = Compute(p == kEven ? 0 : 1, {S(0)}, 1, 2);
    const Source base = Source::Prologue(p == kEven ? 0 : 1);
    decide.calls = {
        CallSite{0, S(1), {Branch{kBase, {base}}, Branch{p + 1, {S(2)}}}, 3}};
    parity.stages = {decide};
    parity.outputs = {S(3)};
    PlannedProcedure& more = program.plan.procedures[p + 1];
    more.is_branch = true;
    more.num_arguments = 1;
    more.num_slots = 2;
    Stage other;
    other.calls = {
        CallSite{0, {}, {Branch{p == kEven ? kOdd : kEven, {S(0)}}}, 1}};
    more.stages = {other};
    more.outputs = {S(1)};
  }
  program.plan.procedures[kBase] = Returned();
  const auto decide = [](const Column& in) {
    return Column{in[0] > 0, in[0] - 1};
  };
  program.blocks = {decide, decide};
  return program;
}

TEST_P(PolicyTest, SubGraphsCallEachOther) {
  const IntegerProgram program = EvenAndOdd();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{0, 1, 2, 5, 8}}, 5)), (Column{1, 0, 1, 0, 1}));
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
