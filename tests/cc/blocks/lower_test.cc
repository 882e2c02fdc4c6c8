#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/fused.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tests/cc/blocks/cells.h"

namespace recursive_tf {
namespace {

BlockProgram Lowered(const BlockGraph& graph) { return Lower(Fused(graph)); }

int64_t CountOf(const Phase& phase, Opcode opcode) {
  return std::count_if(phase.code.begin(), phase.code.end(),
                       [&](const Instruction& instruction) {
                         return !instruction.is_reduction &&
                                !instruction.spreads && !instruction.narrows &&
                                instruction.opcode == opcode;
                       });
}

int64_t CountReductions(const Phase& phase) {
  return std::count_if(
      phase.code.begin(), phase.code.end(),
      [](const Instruction& instruction) { return instruction.is_reduction; });
}

TEST(LowerTest, ATreeLstmGoesForwardInOnePhase) {
  constexpr int64_t kSize = 8;
  const BlockProgram program = Lowered(TreeLstmForward(kSize).graph);
  ASSERT_EQ(program.phases.size(), 1U);
  const Phase& phase = program.phases[0];
  EXPECT_EQ(phase.width, kSize);
  EXPECT_FALSE(phase.needs_whole_rows);
  // One product, of which all gates take a segment, on its strip.
  ASSERT_EQ(phase.products.size(), 1U);
  EXPECT_FALSE(phase.products[0].out.has_value());
  ASSERT_EQ(program.matrices.size(), 1U);
  EXPECT_EQ(program.matrices[0].num_segments, 5);
  EXPECT_EQ(program.matrices[0].segment_width, kSize);
  EXPECT_EQ(program.matrices[0].depth, 2 * kSize);
  // Each gate adds its bias; c is one product and two that are added to it.
  EXPECT_EQ(CountOf(phase, Opcode::kSigmoidOfSum), 4);
  EXPECT_EQ(CountOf(phase, Opcode::kTanhOfSum), 1);
  EXPECT_EQ(CountOf(phase, Opcode::kMulAdd), 2);
  EXPECT_EQ(CountOf(phase, Opcode::kAdd), 0);
  EXPECT_EQ(phase.code.size(), 10U);
  // Nothing is in memory but what the block gives.
  EXPECT_EQ(program.buffers, std::vector<BufferUse>(5, {kSize, 0}));
  EXPECT_TRUE(program.sums.empty());
}

TEST(LowerTest, ATreeLstmGoesBackwardInTwoPhases) {
  constexpr int64_t kSize = 8;
  const BlockProgram program = Lowered(TreeLstmBackward(kSize).graph);
  ASSERT_EQ(program.phases.size(), 2U);
  const Phase& gates = program.phases[0];
  EXPECT_EQ(gates.width, kSize);
  EXPECT_TRUE(gates.products.empty());
  EXPECT_EQ(CountOf(gates, Opcode::kSigmoidGrad), 4);
  EXPECT_EQ(CountOf(gates, Opcode::kTanhGrad), 2);
  const Phase& product = program.phases[1];
  EXPECT_EQ(product.width, 2 * kSize);
  EXPECT_TRUE(product.code.empty());
  ASSERT_EQ(product.products.size(), 1U);
  // The gates' gradients are its pieces: nobody joins them.
  EXPECT_EQ(product.products[0].pieces.size(), 5U);
  EXPECT_TRUE(product.products[0].out.has_value());
  EXPECT_TRUE(program.matrices[0].is_transposed);
  ASSERT_EQ(program.sums.size(), 2U);
  EXPECT_EQ(program.sums[0].right.size(), 5U);
  EXPECT_TRUE(program.sums[1].left.empty());
}

TEST(LowerTest, ALayerIsNormalizedInOnePhaseOfWholeRows) {
  constexpr int64_t kSize = 8;
  const BlockProgram program = Lowered(NormalizedLayer(kSize).graph);
  ASSERT_EQ(program.phases.size(), 1U);
  const Phase& phase = program.phases[0];
  EXPECT_TRUE(phase.needs_whole_rows);
  EXPECT_EQ(CountReductions(phase), 2);
  ASSERT_EQ(phase.products.size(), 1U);
  EXPECT_FALSE(phase.products[0].out.has_value());
  // The variance stands in all columns, and is given in one.
  EXPECT_TRUE(phase.code.back().narrows);
  EXPECT_EQ(program.buffers, (std::vector<BufferUse>{{kSize, 0}, {1, 0}}));
}

TEST(LowerTest, AProductOfAProductIsInAPhaseOfItsOwn) {
  BlockGraph g;
  const int32_t first = g.Product(g.Input(0, 6), 0, false, 7);
  g.outputs = {g.Product(first, 1, false, 8)};
  const BlockProgram program = Lowered(g);
  ASSERT_EQ(program.phases.size(), 2U);
  EXPECT_EQ(program.phases[0].width, 7);
  EXPECT_EQ(program.phases[1].width, 8);
}

TEST(LowerTest, WhatIsReadLaterIsInARegisterUntilThen) {
  // A chain needs one register, however long it is.
  BlockGraph g;
  int32_t x = g.Input(0, 4);
  for (int i = 0; i < 20; ++i) x = g.Elementwise(Opcode::kTanh, {x});
  g.outputs = {x};
  const BlockProgram program = Lowered(g);
  ASSERT_EQ(program.phases.size(), 1U);
  EXPECT_EQ(program.phases[0].code.size(), 20U);
  EXPECT_EQ(program.phases[0].num_registers, 1);
}

TEST(LowerTest, AProductThatIsCutAndAnOutputIsInMemory) {
  BlockGraph g;
  const int32_t product = g.Product(g.Input(0, 6), 0, false, 8);
  g.outputs = {product, g.Elementwise(Opcode::kTanh, {g.Slice(product, 0, 4)})};
  const BlockProgram program = Lowered(g);
  ASSERT_EQ(program.phases.size(), 2U);
  EXPECT_TRUE(program.phases[0].products[0].out.has_value());
}

TEST(LowerTest, ConstantsAreTheSameBitByBit) {
  BlockGraph g;
  const int32_t x = g.Input(0, 4);
  g.outputs = {g.Elementwise(Opcode::kDiv, {x, g.Constant(0.0)}),
               g.Elementwise(Opcode::kDiv, {x, g.Constant(-0.0)}),
               g.Elementwise(Opcode::kSub, {x, g.Constant(0.0)})};
  EXPECT_EQ(Lowered(g).constants.size(), 2U);
}

TEST(LowerTest, ChildrenAreSummedAndTheirGatesComputedBesideTheirProducts) {
  constexpr int64_t kSize = 8;
  const BlockProgram program = Lowered(ChildSumForward(kSize).graph);
  // What items look up; the sum of h; the forget gates; that of what these let
  // through; the rest.
  ASSERT_EQ(program.phases.size(), 5U);
  const auto forget =
      std::find_if(program.phases.begin(), program.phases.end(),
                   [](const Phase& phase) { return phase.axis == 1; });
  ASSERT_NE(forget, program.phases.end());
  EXPECT_EQ(CountOf(*forget, Opcode::kSigmoidOfSum), 1);
  ASSERT_EQ(forget->products.size(), 1U);
  EXPECT_FALSE(forget->products[0].out.has_value());
}

TEST(LowerTest, AProductThatOnePhaseReadsInPartsAndAnotherOneWholeIsNotCut) {
  constexpr int64_t kSize = 8;
  BlockGraph g;
  const int32_t x = g.Input(0, kSize);
  const int32_t cut = g.Product(x, 0, /*is_transposed=*/false, 2 * kSize);
  const int32_t later = g.RowProduct(x, x, {kSize, 1, 1, 1, 1, false});
  g.outputs = {Times(&g, g.Slice(cut, 0, kSize), later),
               Times(&g, g.Slice(cut, kSize, kSize), x)};
  const BlockProgram program = Lowered(g);
  ASSERT_EQ(program.matrices.size(), 1U);
  EXPECT_EQ(program.matrices[0].num_segments, 1);
}

}  // namespace
}  // namespace recursive_tf
