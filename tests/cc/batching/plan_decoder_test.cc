#include "recursive_tf/cc/batching/plan_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/integer_program.h"

namespace recursive_tf {
namespace {

using Code = std::vector<int64_t>;

// f(n) = n == 0 ? 7 : f(n - 1) + 1, as encoding.py writes it.
Code Chain() {
  return {
      3,  1, 2, 3,            // version, prologue, blocks, procedures
      0,  1, 4, 1,  3, 0,     // f: an argument, 4 slots, returns slot 3
      1,                      //   one stage:
      0,  1, 1, 0,  1, 2,     //     block 0 of slot 0, to slots 1 and 2
      0,                      //     no pushes
      1,  0, 0, 1,  1, 3,     //     a call by slot 1, to slot 3:
      2,  1, 1, -1, 2, 1, 2,  //       procedures 1 and 2
      0,                      //   no lists
      1,  1, 1, 1,  0, 0, 0,  // the base: returns its argument
      0,                      //   no lists
      1,  1, 3, 1,  2, 0,     // more: an argument, 3 slots
      2,                      //   two stages:
      -1, 0, 0, 0,  0,        //     no block, no pushes,
      1,  7, 0, 0,  0, 1, 1, 0, 1, 0,  //     f at call site 7, to slot 1
      1,  1, 1, 1,  2, 1, 0, 0,        //     block 1 of slot 1, to slot 2
      0,                               //   no lists
  };
}

// f(n): for (sum = 0; n > 0; --n) sum += n; return sum.
Code Loop() {
  return {
      3, 1,  2, 4,        // version, prologue, blocks, procedures
      0, 1,  3, 1, 2, 0,  // f: an argument, 3 slots, returns slot 2
      1, -1, 0, 0, 0, 0,  //   one stage, of no block:
      1, 0,  0, 0, 0, 1, 1, 1, 2, 0, -1,  //     the loop, to slot 1, of 0 and 7
      0,                                  //   no lists
      1, 2,  5, 2, 3, 4, 0,               // the loop: n, sum, goes on, n, sum
      1, 0,  1, 1, 0, 2, 1, 0,            //   block 0 of slot 0, to slot 2
      1, 0,  0, 1, 2, 3,                  //   a choice by slot 2, to slot 3:
      2, 2,  2, 0, 1, 3, 2, 0, 1, 0,      //     procedures 2 and 3
      1, 2,  2, 2, 0, 1, 0, 0, 0,         // the end: returns both
      1, 2,  4, 0,                        // the turn: returns nothing
      1, 1,  2, 2, 3,                     //   but begins the loop again
      1, 1,  2, 1, 0, 1, 1, 2, 2, 0, 0,   //   block 1 of both, to slot 2
      0,                                  //   no lists
  };
}

// f(n) = n + 1, once for each n.
Code Shared() {
  return {
      3, 0,  1, 2,                    // version, prologue, blocks, procedures
      0, 1,  2, 1, 1, 0,              // the front: returns slot 1
      1, -1, 0, 0, 0, 0,              //   one stage, of no block:
      1, 0,  0, 2, 0, 1, 1, 1, 1, 0,  //     the body by the key in slot 0
      0,                              //   no lists
      1, 1,  2, 1, 1, 0,              // the body: returns slot 1
      1, 0,  1, 1, 0, 1, 1, 0, 0,     //   block 0 of slot 0, to slot 1
      0,                              //   no lists
  };
}

std::string ErrorOf(const Code& code) {
  Plan plan;
  PlanDecoder decoder(&code);
  EXPECT_FALSE(decoder.Decode(&plan));
  return decoder.error();
}

TEST(PlanDecoderTest, APlanThatWasReadRuns) {
  const Code code = Chain();
  IntegerProgram program;
  PlanDecoder decoder(&code);
  ASSERT_TRUE(decoder.Decode(&program.plan)) << decoder.error();
  program.prologue = {7};
  program.blocks = {
      [](const Column& in) { return Column{in[0] > 0, in[0] - 1}; },
      [](const Column& in) { return Column{in[0] + 1}; },
  };
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{0, 3}}, 2), (std::vector<Column>{{7}, {10}}));
}

TEST(PlanDecoderTest, ALoopThatWasReadRuns) {
  const Code code = Loop();
  IntegerProgram program;
  PlanDecoder decoder(&code);
  ASSERT_TRUE(decoder.Decode(&program.plan)) << decoder.error();
  program.prologue = {0};
  program.blocks = {
      [](const Column& in) { return Column{in[0] > 0}; },
      [](const Column& in) { return Column{in[0] - 1, in[1] + in[0]}; },
  };
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{0, 3, 4}}, 3), (std::vector<Column>{{0}, {6}, {10}}));
}

TEST(PlanDecoderTest, WhatIsSharedAndWasReadRunsOnce) {
  const Code code = Shared();
  IntegerProgram program;
  PlanDecoder decoder(&code);
  ASSERT_TRUE(decoder.Decode(&program.plan)) << decoder.error();
  program.blocks = {[](const Column& in) { return Column{in[0] + 1}; }};
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{5, 7, 5}}, 3), (std::vector<Column>{{6}, {8}, {6}}));
  EXPECT_EQ(run.launches().front().second, 2);
}

TEST(PlanDecoderTest, WhatIsSharedRunsInPlace) {
  Code code = Shared();
  code[27] = 0;  // The body is no branch, but a SubGraph.
  EXPECT_EQ(ErrorOf(code),
            "The plan is damaged: it has a key of what does not run in place.");
}

TEST(PlanDecoderTest, ACallIsOfAKnownKind) {
  Code code = Shared();
  code[19] = 3;
  EXPECT_EQ(ErrorOf(code), "The plan is damaged: it has a call of no kind.");
}

TEST(PlanDecoderTest, WhateverNumberOfASharedCallIsChangedItIsReadOrRefused) {
  const Code code = Shared();
  for (size_t i = 1; i < code.size(); ++i) {
    for (const int64_t changed : {-100, -2, -1, 0, 1, 2, 3, 4, 100}) {
      Code other = code;
      other[i] = changed;
      Plan plan;
      PlanDecoder decoder(&other);
      if (decoder.Decode(&plan)) {
        EXPECT_EQ(plan.procedures.size(), 2);
      } else {
        EXPECT_NE(decoder.error(), "");
      }
    }
  }
}

TEST(PlanDecoderTest, ATurnBeginsTheLoopThatItIsIn) {
  // The turn goes on in its caller's caller, which takes one argument.
  Code code = Loop();
  const auto turn = std::find(code.end() - 17, code.end(), 1);
  ASSERT_EQ(*(turn + 1), 1);
  code.erase(turn + 1, turn + 5);
  code.insert(turn + 1, {0, 1, 2});
  EXPECT_EQ(ErrorOf(code),
            "The plan is damaged: it has a loop that its turn is not in.");
}

TEST(PlanDecoderTest, WhateverNumberOfALoopIsChangedItIsReadOrRefused) {
  const Code code = Loop();
  for (size_t i = 1; i < code.size(); ++i) {
    for (const int64_t changed : {-100, -2, -1, 0, 1, 2, 3, 4, 100}) {
      Code other = code;
      other[i] = changed;
      Plan plan;
      PlanDecoder decoder(&other);
      if (decoder.Decode(&plan)) {
        EXPECT_EQ(plan.procedures.size(), 4);
      } else {
        EXPECT_NE(decoder.error(), "");
      }
    }
  }
}

TEST(PlanDecoderTest, SaysBothVersions) {
  Code code = Chain();
  code[0] = 12;
  EXPECT_EQ(ErrorOf(code),
            "The plan has version 12, but this version of recursive_tf reads "
            "version 3. Trace or save the model again with the version that "
            "runs it.");
}

TEST(PlanDecoderTest, EveryBeginningOfAPlanEndsTooEarly) {
  const Code code = Chain();
  for (size_t length = 1; length < code.size(); ++length) {
    const Code part(code.begin(), code.begin() + static_cast<int64_t>(length));
    // A count may be larger than what is left is long.
    EXPECT_NE(ErrorOf(part).find("The plan is damaged: it "), std::string::npos)
        << length;
  }
}

TEST(PlanDecoderTest, NothingMayFollow) {
  Code code = Chain();
  code.push_back(0);
  EXPECT_EQ(ErrorOf(code), "The plan is damaged: it goes on after its end.");
}

// Blocks for a plan of which nothing is known: they return ones and zeros.
std::vector<IntegerProgram::Block> SomeBlocks(const Plan& plan) {
  std::vector<IntegerProgram::Block> blocks(plan.num_blocks);
  for (const PlannedProcedure& procedure : plan.procedures) {
    for (const Stage& stage : procedure.stages) {
      if (stage.block == kNoBlock) continue;
      blocks[stage.block] = [count = stage.num_outputs](const Column& in) {
        return Column(count, in.empty() ? 0 : in.front() % 2);
      };
    }
  }
  return blocks;
}

TEST(PlanDecoderTest, WhateverNumberIsChangedAPlanThatIsReadCanBeRun) {
  const Code code = Chain();
  int num_read = 0;
  for (size_t i = 1; i < code.size(); ++i) {
    for (const int64_t changed : {-100, -2, -1, 0, 1, 2, 3, 4, 100}) {
      Code other = code;
      other[i] = changed;
      IntegerProgram program;
      if (!PlanDecoder(&other).Decode(&program.plan)) continue;
      ++num_read;
      program.prologue = Column(program.plan.num_prologue_outputs, 7);
      program.blocks = SomeBlocks(program.plan);
      IntegerRun run(&program, "agenda", ActivationLimits{20, 100});
      const std::vector<Column> arguments(
          program.plan.procedures.front().num_arguments, Column{1, 2, 3});
      EXPECT_NO_THROW(run.Run(arguments, 3)) << i << " is " << changed;
    }
  }
  EXPECT_GT(num_read, 100);
}

TEST(PlanDecoderTest, ABlockBelongsToOneStage) {
  Code code = Chain();
  code[code.size() - 9] = 0;
  EXPECT_EQ(ErrorOf(code), "The plan is damaged: it runs a block twice.");
}

TEST(PlanDecoderTest, ATableIsNotBeyondAllThatThePlanSays) {
  // f pushes its argument, at row 0 of the prologue, to some table.
  const auto pushes_to = [](int64_t table) {
    return Code{3,  1, 0, 1, 0, 1,     1,  1, 0, 0, 1,
                -1, 0, 0, 0, 1, table, -1, 0, 0, 0};
  };
  Plan plan;
  const Code code = pushes_to(1);
  EXPECT_TRUE(PlanDecoder(&code).Decode(&plan));
  EXPECT_EQ(ErrorOf(pushes_to(2147483647)),
            "The plan is damaged: it names a table that is not there.");
  EXPECT_EQ(ErrorOf(pushes_to(4294967296)),
            "The plan is damaged: it says 4294967296 where no number is so "
            "large.");
}

TEST(PlanDecoderTest, ABranchIsTakenFromOutsideOfIt) {
  // f returns its argument; a branch takes itself.
  const Code code = {
      3,  0, 0, 2,                    // version, prologue, blocks, procedures
      0,  1, 1, 1, 0, 0, 0, 0,        // f
      1,  1, 2, 1, 1, 0,              // the branch: returns slot 1
      1,                              //   one stage, of no block:
      -1, 0, 0, 0, 0,                 //     no pushes,
      1,  0, 0, 0, 0, 1, 1, 1, 1, 0,  //     itself, to slot 1
      0,                              //   no lists
  };
  EXPECT_EQ(ErrorOf(code),
            "The plan is damaged: it has a branch that only itself takes.");
}

TEST(PlanDecoderTest, EverySlotIsFilled) {
  const Code code = {3, 0, 0, 1, 0, 1, 2, 1, 0, 0, 0, 0};
  EXPECT_EQ(ErrorOf(code),
            "The plan is damaged: it has a slot that nothing fills.");
}

TEST(PlanDecoderTest, TheFirstMistakeEndsIt) {
  // Each of so many procedures says to have as many slots as there are numbers:
  // to look at all of them takes minutes.
  constexpr int64_t kProcedures = 100'000;
  Code code = {3, 0, 0, kProcedures};
  for (int64_t i = 0; i < kProcedures; ++i) {
    code.insert(code.end(), {0, 0, 7 * kProcedures, 0, 0, 0, 0});
  }
  EXPECT_EQ(ErrorOf(code),
            "The plan is damaged: it has a slot that nothing fills.");
}

TEST(PlanDecoderTest, APlanNeedsAProcedure) {
  EXPECT_EQ(ErrorOf({3, 0, 0, 0}),
            "The plan is damaged: it has no procedures.");
}

}  // namespace
}  // namespace recursive_tf
