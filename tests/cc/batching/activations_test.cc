#include "recursive_tf/cc/batching/activations.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {
namespace {

using Values = std::vector<int32_t>;

enum : uint8_t { kReadFirst, kReadLast, kNeverRead };

// One procedure with a slot that its first stage reads, one that it returns,
// and one that nothing reads.
Plan PlanOfThreeSlots() {
  Plan plan;
  PlannedProcedure& procedure = plan.procedures.emplace_back();
  procedure.num_slots = 3;
  Stage stage;
  stage.inputs = {{Source::Slot(kReadFirst)}};
  procedure.stages = {stage};
  procedure.outputs = {Source::Slot(kReadLast)};
  return plan;
}

class ActivationsTest : public testing::Test {
 protected:
  // Two activations, and as many values.
  ActivationsTest() : activations_(&plan_) {
    activations_.table().Add(0);
    activations_.table().Add(0);
    activations_.AddValues(2);
  }

  const Plan plan_ = PlanOfThreeSlots();
  Activations activations_;
};

TEST_F(ActivationsTest, AValueDiesWithTheLastSlotThatHoldsARowOfIt) {
  activations_.Put(0, kReadFirst, {1, 0});
  activations_.Put(1, kReadLast, {1, 1});
  activations_.EndReads(0, 0);
  EXPECT_EQ(activations_.TakeDeadValues(), Values{});
  activations_.EndReads(1, 1);
  EXPECT_EQ(activations_.TakeDeadValues(), Values{1});
  EXPECT_EQ(activations_.TakeDeadValues(), Values{});
}

TEST_F(ActivationsTest, WhatIsKeptLives) {
  activations_.Put(0, kReadFirst, {1, 0});
  activations_.Keep({1, 0});
  activations_.EndReads(0, 0);
  EXPECT_EQ(activations_.TakeDeadValues(), Values{});
}

TEST_F(ActivationsTest, ASlotThatNothingReadsStaysEmpty) {
  activations_.Put(0, kNeverRead, {1, 0});
  activations_.PutResult(0, kNeverRead, 0, {1, 0});
  activations_.PutEmptyList(0, kNeverRead, 2);
  EXPECT_EQ(activations_.Find(0, Source::Slot(kNeverRead)), ValueRow());
  EXPECT_EQ(activations_.lists().num_alive(), 0);
  activations_.FindUnread(0, 2);
  EXPECT_EQ(activations_.TakeDeadValues(), (Values{0, 1}));
}

TEST_F(ActivationsTest, AListHoldsItsItems) {
  activations_.PutRows(0, kReadFirst, {1, 4}, 2);
  const ValueRow list = activations_.Find(0, Source::Slot(kReadFirst));
  EXPECT_EQ(activations_.Items(list), (std::vector<ValueRow>{{1, 4}, {1, 5}}));
  // Another slot holds the same list.
  activations_.Put(1, kReadLast, list);
  activations_.EndReads(0, 0);
  EXPECT_EQ(activations_.TakeDeadValues(), Values{});
  activations_.EndReads(1, 1);
  EXPECT_EQ(activations_.TakeDeadValues(), Values{1});
  EXPECT_EQ(activations_.lists().num_alive(), 0);
}

TEST_F(ActivationsTest, ResultsOfAMapGoToTheirItems) {
  activations_.PutEmptyList(0, kReadLast, 2);
  activations_.PutResult(0, kReadLast, 1, {0, 7});
  activations_.PutResult(0, kReadLast, 0, {1, 8});
  EXPECT_EQ(activations_.Items(activations_.Find(0, Source::Slot(kReadLast))),
            (std::vector<ValueRow>{{1, 8}, {0, 7}}));
  activations_.EndReads(0, 1);
  EXPECT_EQ(activations_.TakeDeadValues(), (Values{1, 0}));
}

}  // namespace
}  // namespace recursive_tf
