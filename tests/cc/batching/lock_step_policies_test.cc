#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"
#include "tests/cc/batching/lock_step_programs.h"

namespace recursive_tf {
namespace {

int64_t FibOf(int64_t n) { return n < 2 ? n : FibOf(n - 1) + FibOf(n - 2); }

// What lock step computes, whatever the policy is.
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
  EXPECT_EQ(shared.steps().num_alive(), 0);
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
  EXPECT_EQ(run.steps().num_alive(), 0);
}

TEST_P(PolicyTest, TwoRunsLaunchTheSame) {
  const IntegerProgram program = Fib();
  IntegerRun one(&program, GetParam());
  IntegerRun other(&program, GetParam());
  one.Run({{9, 4, 11}}, 3);
  other.Run({{9, 4, 11}}, 3);
  EXPECT_EQ(one.launches(), other.launches());
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
    ASSERT_EQ(run.steps().num_alive(), 0) << seed;
  }
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

TEST_P(PolicyTest, AChainMayBeAHundredThousandLong) {
  constexpr int64_t kLength = 100000;
  const IntegerProgram program = Chain();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{kLength}}, 1)), Column{kLength});
  // Going down, a level needs none of its values any more.
  EXPECT_LE(run.max_alive(), 8);
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
  EXPECT_EQ(run.steps().num_alive(), 0);
  // The second is taken before the first returns anything.
  std::vector<int32_t> blocks;
  for (const auto& [block, num_rows] : run.launches()) blocks.push_back(block);
  EXPECT_LT(std::find(blocks.begin(), blocks.end(), 2),
            std::find(blocks.begin(), blocks.end(), 4));
}

TEST_P(PolicyTest, ALoopAroundACallTurnsAsOftenAsEachRowWants) {
  const IntegerProgram program = LoopAroundACall();
  IntegerRun run(&program, GetParam());
  EXPECT_EQ(Flat(run.Run({{0, 5, 1, 9, 2}}, 5)), (Column{0, 31, 1, 511, 3}));
  EXPECT_EQ(run.steps().num_alive(), 0);
  // But for the results, which are of one launch each.
  EXPECT_LE(run.num_alive(), 5);
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

}  // namespace
}  // namespace recursive_tf
