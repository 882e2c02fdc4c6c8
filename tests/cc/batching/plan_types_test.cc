#include "recursive_tf/cc/batching/plan_types.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/plans.h"

namespace recursive_tf {
namespace {

enum : uint8_t { kBool = 1, kInt32, kInt64, kFloat };

std::string Wrong(const Plan& plan, const ProgramTypes& types) {
  return TypeChecker(&plan, &types, {kBool, kInt32, kInt64}).Check();
}

// A tree: block 0 looks at a node and gives a condition and two children; the
// base is block 1, of a node; the sum of two values is block 2.
Plan Tree() {
  Plan plan;
  plan.num_blocks = 3;
  PlannedProcedure tree;
  tree.num_arguments = 1;
  tree.num_slots = 5;  // node, condition, left, right, result
  tree.stages = {Compute(0, {S(0)}, 1, 3)};
  CallSite choice;
  choice.selector = S(1);
  choice.branches = {{1, {S(0)}}, {2, {S(2), S(3)}}};
  choice.first_result = 4;
  tree.stages.front().calls = {choice};
  tree.stages.front().pushes = {{0, S(3), S(2)}};
  tree.outputs = {S(4)};
  plan.procedures = {tree, LeafOfTree(1), InnerOfTree(2, /*tree=*/0)};
  return plan;
}

// Right children are numbers of 64 bits, as rows of the table; all nodes are.
ProgramTypes TypesOfTree() {
  ProgramTypes types;
  types.blocks = {{{kInt64}, {kBool, kInt64, kInt64}},
                  {{kInt64}, {kFloat}},
                  {{kFloat, kFloat}, {kFloat}}};
  types.arguments = {kInt64};
  types.results = {kFloat};
  types.tables = {kInt64};
  return types;
}

TEST(TypeCheckerTest, FollowsValuesThroughCallsAndBranches) {
  EXPECT_EQ(Wrong(Tree(), TypesOfTree()), "");
}

TEST(TypeCheckerTest, ABlockTakesWhatItsFunctionTakes) {
  ProgramTypes types = TypesOfTree();
  types.blocks[2].inputs[1] = kInt32;
  EXPECT_EQ(Wrong(Tree(), types),
            "The plan is damaged: it reads a value as one of another type.");
  types.blocks[2].inputs.pop_back();
  EXPECT_NE(Wrong(Tree(), types), "");
}

TEST(TypeCheckerTest, ABlockGivesAsMuchAsThePlanTakes) {
  ProgramTypes types = TypesOfTree();
  types.blocks[0].outputs.pop_back();
  EXPECT_NE(Wrong(Tree(), types), "");
  // In training form it gives more.
  types = TypesOfTree();
  types.blocks[0].outputs.push_back(kFloat);
  EXPECT_EQ(Wrong(Tree(), types), "");
}

TEST(TypeCheckerTest, BranchesReturnTheSameTypes) {
  ProgramTypes types = TypesOfTree();
  types.blocks[1].outputs = {kInt32};
  EXPECT_EQ(Wrong(Tree(), types),
            "The plan is damaged: it puts values of two types into one slot.");
}

TEST(TypeCheckerTest, AConditionIsABoolOrAnInt32) {
  ProgramTypes types = TypesOfTree();
  types.blocks[0].outputs[0] = kInt32;
  EXPECT_EQ(Wrong(Tree(), types), "");
  types.blocks[0].outputs[0] = kFloat;
  EXPECT_NE(Wrong(Tree(), types), "");
}

TEST(TypeCheckerTest, APushIsToATableOfItsType) {
  ProgramTypes types = TypesOfTree();
  types.tables = {kFloat};
  EXPECT_NE(Wrong(Tree(), types), "");
  types.tables = {};
  EXPECT_EQ(Wrong(Tree(), types),
            "The plan is damaged: it names a table that is not there.");
}

TEST(TypeCheckerTest, TheRootCallTakesAndReturnsWhatThePlanDoes) {
  for (const bool of_results : {false, true}) {
    ProgramTypes types = TypesOfTree();
    Types& changed = of_results ? types.results : types.arguments;
    changed = {kBool};
    EXPECT_NE(Wrong(Tree(), types), "");
    changed.clear();
    EXPECT_EQ(Wrong(Tree(), types),
              "The plan is damaged: it does not take and return what its root "
              "call does.");
  }
}

TEST(TypeCheckerTest, ThePrologueGivesAsMuchAsThePlanReads) {
  Plan plan = Tree();
  plan.num_prologue_outputs = 1;
  ProgramTypes types = TypesOfTree();
  EXPECT_NE(Wrong(plan, types), "");
  types.prologue = {kFloat};
  EXPECT_EQ(Wrong(plan, types), "");
  plan.procedures[0].stages[0].inputs = {{Source::Prologue(0)}};
  EXPECT_NE(Wrong(plan, types), "");
}

}  // namespace
}  // namespace recursive_tf
