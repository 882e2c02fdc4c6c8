#include "recursive_tf/cc/batching/gradient_plan_decoder.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {
namespace {

// One block of two inputs and one output.
Plan OneBlock() {
  Plan plan;
  plan.num_blocks = 1;
  PlannedProcedure& procedure = plan.procedures.emplace_back();
  procedure.num_arguments = 2;
  procedure.num_slots = 3;
  Stage& stage = procedure.stages.emplace_back();
  stage.block = 0;
  stage.inputs = {{Source::Slot(0)}, {Source::Slot(1)}};
  stage.first_output = 2;
  stage.num_outputs = 1;
  return plan;
}

// What a block keeps begins at kKept, and so on.
enum : uint8_t { kVersion, kBlocks, kExtras, kNumKept, kKept };

std::vector<int64_t> Code() {
  return {
      3, 1,                 // version, blocks
      1,                    // extras
      3, 0, 2, 3,           // kept: an input, the output, the extra
      1, 1,                 // has a backward and a deferred part
      2, 0, 2,              // tape
      1, 0,                 // cotangents
      2, 0, 1,              // gradients of inputs
      3, 0, 1, 1, 0, 2, 2,  // deferred: kept 1, cotangent 0, result 2
  };
}

std::string ErrorOf(const std::vector<int64_t>& code) {
  const Plan plan = OneBlock();
  GradientPlanDecoder decoder(&plan, &code);
  GradientPlan gradients;
  EXPECT_FALSE(decoder.Decode(&gradients));
  return decoder.error();
}

TEST(GradientPlanDecoderTest, ReadsWhatIsThere) {
  const Plan plan = OneBlock();
  const std::vector<int64_t> code = Code();
  GradientPlanDecoder decoder(&plan, &code);
  GradientPlan gradients;
  ASSERT_TRUE(decoder.Decode(&gradients)) << decoder.error();
  ASSERT_EQ(gradients.size(), 1U);
  const BlockGradient& block = gradients.front();
  EXPECT_EQ(block.num_extras, 1);
  EXPECT_EQ(block.kept, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_TRUE(block.has_backward);
  EXPECT_TRUE(block.has_deferred);
  EXPECT_EQ(block.tape, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(block.cotangents, std::vector<int32_t>{0});
  EXPECT_EQ(block.input_gradients, (std::vector<int32_t>{0, 1}));
  ASSERT_EQ(block.deferred.size(), 3U);
  EXPECT_EQ(block.deferred[1].kind, Replayed::Kind::kCotangent);
  EXPECT_EQ(block.deferred[2].index, 2);
}

TEST(GradientPlanDecoderTest, AnotherVersionIsSaid) {
  std::vector<int64_t> code = Code();
  code[kVersion] = 9;
  EXPECT_EQ(ErrorOf(code).rfind("The gradient plan has version 9, but", 0), 0U);
}

TEST(GradientPlanDecoderTest, AnotherNumberOfBlocksIsRefused) {
  std::vector<int64_t> code = Code();
  code[kBlocks] = 2;
  EXPECT_NE(ErrorOf(code).find("another number of blocks"), std::string::npos);
}

TEST(GradientPlanDecoderTest, EveryCutIsRefused) {
  const std::vector<int64_t> code = Code();
  for (size_t length = 0; length < code.size(); ++length) {
    ErrorOf({code.begin(), code.begin() + static_cast<int64_t>(length)});
  }
}

TEST(GradientPlanDecoderTest, APartThatIsNotThereTakesAndGivesNothing) {
  for (const size_t part : {size_t{8}, size_t{9}}) {
    std::vector<int64_t> code = Code();
    ASSERT_EQ(code[part - 1], 1);
    code[part - 1] = 0;
    EXPECT_NE(ErrorOf(code), "");
  }
}

TEST(GradientPlanDecoderTest, AnIndexOutOfRangeIsRefused) {
  // Everything but the counts, the version and the two flags.
  const std::vector<size_t> indices = {4,  5,  6,  10, 11, 13,
                                       15, 16, 18, 19, 20, 21};
  for (const size_t at : indices) {
    for (const int64_t wrong : {-1, 9}) {
      std::vector<int64_t> code = Code();
      code[at] = wrong;
      EXPECT_NE(ErrorOf(code), "") << at;
    }
  }
}

}  // namespace
}  // namespace recursive_tf
