#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/liveness.h"
#include "recursive_tf/cc/batching/looked_at.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

namespace recursive_tf {
namespace {

using Slots = std::vector<int32_t>;

Stage Runs(int32_t block, const std::vector<int32_t>& callees = {}) {
  Stage stage;
  stage.block = block;
  for (const int32_t callee : callees) {
    stage.calls.push_back(CallSite{0, {}, {Branch{callee, {}}}, 0});
  }
  return stage;
}

Plan MakePlan(int32_t num_blocks,
              const std::vector<std::vector<Stage>>& procedures) {
  Plan plan;
  plan.num_blocks = num_blocks;
  for (const std::vector<Stage>& stages : procedures) {
    plan.procedures.emplace_back().stages = stages;
  }
  return plan;
}

TEST(BlockOrderTest, StagesComeOneAfterTheOther) {
  const BlockOrder order(MakePlan(3, {{Runs(2), Runs(0), Runs(1)}}));
  EXPECT_EQ(order.rank(2), 0);
  EXPECT_EQ(order.rank(0), 1);
  EXPECT_EQ(order.rank(1), 2);
}

TEST(BlockOrderTest, BlocksThatLeadToEachOtherAreEqual) {
  // Two procedures that call each other.
  const BlockOrder order(MakePlan(2, {{Runs(0, {1})}, {Runs(1, {0})}}));
  EXPECT_EQ(order.rank(0), order.rank(1));
}

TEST(BlockOrderTest, WhatComesAfterARecursiveCallComesAfterAllOfIt) {
  // f: block 0, f, block 1, g; g: block 2.
  const BlockOrder order(
      MakePlan(3, {{Runs(0, {0}), Runs(1, {1})}, {Runs(2)}}));
  EXPECT_LT(order.rank(0), order.rank(1));
  // g returns to f, which may then run block 1 for its caller.
  EXPECT_EQ(order.rank(1), order.rank(2));
}

TEST(BlockOrderTest, StagesWithoutABlockAreNoStop) {
  const BlockOrder order(
      MakePlan(2, {{Runs(kNoBlock, {1}), Runs(1)}, {Runs(0)}}));
  EXPECT_LT(order.rank(0), order.rank(1));
}

TEST(BlockOrderTest, BlocksThatNeverMeetAreEqual) {
  // Two branches.
  Plan plan = MakePlan(3, {{Runs(0, {1})}, {Runs(1)}, {Runs(2)}});
  plan.procedures[0].stages[0].calls[0].branches.push_back(Branch{2, {}});
  const BlockOrder order(plan);
  EXPECT_EQ(order.rank(1), order.rank(2));
  EXPECT_LT(order.rank(0), order.rank(1));
}

Stage Chooses(const std::vector<int32_t>& branches) {
  Stage stage;
  CallSite& call = stage.calls.emplace_back();
  call.selector = Source::Slot(0);
  call.first_result = 1;
  for (const int32_t branch : branches) call.branches.push_back({branch, {}});
  return stage;
}

Plan WithSlots(Plan plan, const std::vector<int32_t>& num_slots,
               const std::vector<int32_t>& branches) {
  for (size_t i = 0; i < num_slots.size(); ++i) {
    plan.procedures[i].num_slots = num_slots[i];
  }
  for (const int32_t branch : branches) {
    plan.procedures[branch].is_branch = true;
  }
  return plan;
}

TEST(InPlaceTest, ABranchThatIsWaitedForAloneRunsInPlace) {
  const InPlace in_place(WithSlots(
      MakePlan(1, {{Runs(0), Chooses({1, 2})}, {Chooses({3})}, {}, {}}),
      {2, 3, 9, 7}, {1, 2, 3}));
  EXPECT_FALSE(in_place.RunsInPlace(0));
  for (const int32_t branch : {1, 2, 3}) {
    EXPECT_TRUE(in_place.RunsInPlace(branch));
    EXPECT_EQ(in_place.Outermost(branch), 0);
  }
  EXPECT_EQ(in_place.HomeOf(2).procedure, 0);
  EXPECT_EQ(in_place.HomeOf(2).stage, 1);
  EXPECT_EQ(in_place.HomeOf(2).first_result, 1);
  EXPECT_EQ(in_place.HomeOf(3).procedure, 1);
  // Its own, and those of the branch that needs more: 3 with the 7 within.
  EXPECT_EQ(in_place.sizes(), (Slots{12, 10, 9, 7}));
}

TEST(InPlaceTest, ABranchBesideAnotherCallIsAnActivation) {
  Stage both = Chooses({1});
  both.calls.push_back(CallSite{0, {}, {Branch{0, {}}}, 0});
  const InPlace in_place(WithSlots(MakePlan(0, {{both}, {}}), {2, 3}, {1}));
  EXPECT_FALSE(in_place.RunsInPlace(1));
  EXPECT_EQ(in_place.sizes(), (Slots{2, 3}));
}

TEST(InPlaceTest, ACalleeIsAnActivation) {
  const InPlace in_place(
      WithSlots(MakePlan(0, {{Chooses({1})}, {}}), {2, 3}, {}));
  EXPECT_FALSE(in_place.RunsInPlace(1));
}

TEST(LivenessTest, ASlotDiesAfterTheStageThatReadsItLast) {
  PlannedProcedure procedure;
  procedure.num_slots = 5;
  procedure.stages.resize(3);
  procedure.stages[0].inputs = {{Source::Slot(0)}, {Source::Slot(1)}};
  procedure.stages[0].pushes = {{0, Source::Slot(4), Source::Slot(1)}};
  procedure.stages[1].calls = {
      CallSite{0, Source::Slot(2), {Branch{0, {Source::Slot(1)}}}, 0}};
  procedure.stages[2].inputs = {{Source::Prologue(0)}};
  procedure.outputs = {Source::Slot(0)};
  const Liveness liveness(procedure);
  EXPECT_EQ(liveness.DyingAfter(0), (Slots{4}));
  EXPECT_EQ(liveness.DyingAfter(1), (Slots{1, 2}));
  EXPECT_TRUE(liveness.DyingAfter(2).empty());
  EXPECT_TRUE(liveness.IsRead(0));
  EXPECT_FALSE(liveness.IsRead(3));
}

TEST(SourceTest, TellsSlotsFromOutputsOfThePrologue) {
  EXPECT_FALSE(Source::Slot(0).of_prologue());
  EXPECT_TRUE(Source::Prologue(0).of_prologue());
  EXPECT_EQ(Source::Prologue(3).prologue_output(), 3);
}

using Blocks = std::vector<bool>;

TEST(LookedAtTest, OfATreeOnlyWhatSaysOfANodeWhatItIs) {
  const Forest forest = MakeForest(1, 1, 0);
  EXPECT_EQ(FindLookedAt(ForestProgram(&forest).plan),
            (Blocks{true, false, false, false}));
}

TEST(LookedAtTest, APushedIndexIsAndAPushedRowIsNot) {
  Plan plan = WithSlots(
      MakePlan(2, {{Compute(0, {}, 0, 1), Compute(1, {}, 1, 1)}}), {2}, {});
  plan.procedures[0].stages[1].pushes = {PlannedPush{0, S(0), S(1)}};
  EXPECT_EQ(FindLookedAt(plan), (Blocks{true, false}));
}

TEST(LookedAtTest, WhatACalleeChoosesByIs) {
  // f: block 0, g(it); g: chooses by its argument.
  Plan plan =
      WithSlots(MakePlan(1, {{Compute(0, {}, 0, 1)}, {Chooses({2})}, {}}),
                {1, 1, 0}, {2});
  plan.procedures[0].stages[0].calls = {
      CallSite{0, {}, {Branch{1, {S(0)}}}, 1}};
  EXPECT_EQ(FindLookedAt(plan), Blocks{true});
}

TEST(LookedAtTest, WhatACallerChoosesByIs) {
  // f: g(), then chooses by what it returned; g: block 0.
  Plan plan = WithSlots(
      MakePlan(
          1, {{Runs(kNoBlock, {1}), Chooses({2})}, {Compute(0, {}, 0, 1)}, {}}),
      {1, 1, 0}, {2});
  plan.procedures[1].outputs = {S(0)};
  EXPECT_EQ(FindLookedAt(plan), Blocks{true});
}

TEST(LookedAtTest, WhatTheNextTurnOfALoopChoosesByIs) {
  // A loop of one value, by which it chooses whether to go on; its turn: block
  // 0.
  Plan plan =
      WithSlots(MakePlan(1, {{Chooses({1, 2})}, {Compute(0, {}, 0, 1)}, {}}),
                {1, 1, 0}, {1, 2});
  plan.procedures[0].num_arguments = 1;
  plan.procedures[1].goes_on = Branch{0, {S(0)}};
  // It returns nothing, whatever it says.
  plan.procedures[1].outputs = {S(0), S(0), S(0)};
  EXPECT_EQ(FindLookedAt(plan), Blocks{true});
}

TEST(LookedAtTest, NumbersOfItemsAndTheirListsAre) {
  Plan plan = WithSlots(
      MakePlan(2, {{Compute(0, {}, 0, 1), Compute(1, {}, 1, 1)}}), {2}, {});
  plan.procedures[0].lists = {PlannedList{1, 0, S(0)}};
  EXPECT_EQ(FindLookedAt(plan), (Blocks{true, true}));
}

}  // namespace
}  // namespace recursive_tf
