#include "recursive_tf/cc/batching/pass_through.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/plans.h"

namespace recursive_tf {
namespace {

using Kind = PassThrough::Kind;

enum : uint8_t { kCaller, kBranch, kOther, kCallee };

// A call of a procedure of two arguments and two results, whose slots are 2
// and 3.
Stage CallOf(int32_t procedure) {
  Stage stage;
  stage.calls = {CallSite{5, {}, {Branch{procedure, {S(1), S(0)}}}, 2}};
  return stage;
}

PlannedProcedure OfTwo(const std::vector<Stage>& stages) {
  PlannedProcedure procedure;
  procedure.num_arguments = 2;
  procedure.num_slots = 4;
  procedure.stages = stages;
  procedure.outputs = {S(2), S(3)};
  return procedure;
}

// A procedure that takes one of two branches, which it hands its slots 1 and 0.
Plan PlanWith(PlannedProcedure branch) {
  branch.is_branch = true;
  Stage choose;
  choose.calls = {
      CallSite{0,
               S(0),
               {Branch{kBranch, {S(1), S(0)}}, Branch{kOther, {S(0), S(1)}}},
               2}};
  Plan plan;
  PlannedProcedure other = OfTwo({});
  other.is_branch = true;
  other.outputs = {S(0), Source::Prologue(3)};
  plan.procedures = {OfTwo({choose}), branch, other, OfTwo({})};
  return plan;
}

TEST(PassThroughTest, ABranchThatOnlyCallsIsFoundWithWhatItTakes) {
  const Plan plan = PlanWith(OfTwo({CallOf(kCallee)}));
  const PassThrough pass_through(plan);
  const PassThrough::Procedure& found = pass_through[kBranch];
  ASSERT_EQ(found.kind, Kind::kCalls);
  EXPECT_EQ(found.call->site, 5);
  EXPECT_EQ(found.callee.procedure, kCallee);
  // Its slots 1 and 0 are the slots 0 and 1 of who takes it.
  ASSERT_EQ(found.callee.arguments.size(), 2);
  EXPECT_EQ(found.callee.arguments[0].slot, 0);
  EXPECT_EQ(found.callee.arguments[1].slot, 1);
}

TEST(PassThroughTest, ABranchThatReturnsWhatIsThereIsFound) {
  const Plan plan = PlanWith(OfTwo({CallOf(kCallee)}));
  const PassThrough pass_through(plan);
  const PassThrough::Procedure& found = pass_through[kOther];
  ASSERT_EQ(found.kind, Kind::kReturns);
  ASSERT_EQ(found.results.size(), 2);
  EXPECT_EQ(found.results[0].slot, 0);
  EXPECT_EQ(found.results[1].prologue_output(), 3);
  EXPECT_FALSE(pass_through.Has(kCaller));
}

TEST(PassThroughTest, ABranchThatDoesMoreIsNone) {
  std::vector<PlannedProcedure> branches(6, OfTwo({CallOf(kCallee)}));
  branches[0].outputs = {S(3), S(2)};        // In another order.
  branches[1].outputs = {S(2)};              // A part of the results.
  branches[2].outputs = {S(2), S(3), S(0)};  // More than these.
  branches[3].stages[0].pushes = {{0, S(0), S(1)}};
  branches[4].stages[0].calls[0].num_mapped = 1;
  branches[5].stages.insert(branches[5].stages.begin(),
                            Compute(0, {S(0)}, 2, 1));
  for (size_t i = 0; i < branches.size(); ++i) {
    const Plan plan = PlanWith(branches[i]);
    EXPECT_FALSE(PassThrough(plan).Has(kBranch)) << i;
  }
}

TEST(PassThroughTest, AFrontAsksForTheKeyThatIsAnArgument) {
  Plan plan = PlanWith(OfTwo({CallOf(kCallee)}));
  PlannedProcedure front = OfTwo({CallOf(kCallee)});
  front.stages[0].calls[0].key = S(1);
  plan.procedures.push_back(front);
  front.stages[0].calls[0].key = Source::Prologue(0);
  plan.procedures.push_back(front);
  const PassThrough pass_through(plan);
  ASSERT_EQ(pass_through[4].kind, Kind::kAsks);
  EXPECT_EQ(pass_through[4].body->procedure, kCallee);
  EXPECT_EQ(pass_through[4].key_argument, 1);
  EXPECT_FALSE(pass_through.Has(5));
}

// A root procedure that calls a callee, and returns `outputs`.
Plan PlanOfWrapper(const std::vector<Source>& outputs) {
  PlannedProcedure root = OfTwo({CallOf(/*procedure=*/1)});
  root.outputs = outputs;
  Plan plan;
  plan.procedures = {root, OfTwo({})};
  return plan;
}

TEST(PassThroughTest, ARootThatOnlyCallsIsPassed) {
  for (const std::vector<Source>& outputs :
       {std::vector<Source>{S(2), S(3)}, std::vector<Source>()}) {
    const Plan plan = PlanOfWrapper(outputs);
    const PassThrough pass_through(plan);
    const CallSite& call = pass_through.root_call();
    EXPECT_EQ(call.site, 5);
    ASSERT_EQ(call.branches.size(), 1);
    EXPECT_EQ(call.branches[0].procedure, 1);
    EXPECT_EQ(call.branches[0].arguments[0].slot, 1);
  }
}

TEST(PassThroughTest, AnyOtherRootIsCalledWithItsArguments) {
  std::vector<Plan> plans(7, PlanOfWrapper({S(2), S(3)}));
  plans[0].procedures[0].outputs = {S(3), S(2)};
  plans[1].procedures[0].outputs = {S(2)};
  plans[2].procedures[0].stages[0].calls[0].num_mapped = 1;
  plans[3].procedures[0].stages[0].calls[0].key = S(0);
  plans[4].procedures[0].stages[0].pushes = {{0, S(0), S(1)}};
  plans[5].procedures[0].stages[0].calls[0].branches[0].procedure = 0;
  plans[6].procedures[1].is_branch = true;
  for (size_t i = 0; i < plans.size(); ++i) {
    const PassThrough pass_through(plans[i]);
    const CallSite& call = pass_through.root_call();
    ASSERT_EQ(call.branches.size(), 1) << i;
    const Branch& branch = call.branches[0];
    EXPECT_EQ(branch.procedure, kRootProcedure) << i;
    ASSERT_EQ(branch.arguments.size(), 2) << i;
    EXPECT_EQ(branch.arguments[0].slot, 0) << i;
    EXPECT_EQ(branch.arguments[1].slot, 1) << i;
  }
}

}  // namespace
}  // namespace recursive_tf
