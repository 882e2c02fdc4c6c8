#include "recursive_tf/cc/blocks/block_graph.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/fused.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {
namespace {

constexpr int64_t kWidth = 6;

int64_t CountOf(const BlockGraph& graph, NodeKind kind) {
  int64_t count = 0;
  for (int32_t id = 0; id < graph.size(); ++id) {
    count += graph[id].kind == kind ? 1 : 0;
  }
  return count;
}

// Returns what element-wise nodes compute, in their order.
std::vector<Opcode> OpcodesOf(const BlockGraph& graph) {
  std::vector<Opcode> opcodes;
  for (int32_t id = 0; id < graph.size(); ++id) {
    if (graph[id].kind == NodeKind::kElementwise) {
      opcodes.push_back(graph[id].opcode);
    }
  }
  return opcodes;
}

class BlockGraphTest : public testing::Test {
 protected:
  int32_t Unary(Opcode opcode, int32_t a) { return g.Elementwise(opcode, {a}); }
  int32_t Binary(Opcode opcode, int32_t a, int32_t b) {
    return g.Elementwise(opcode, {a, b});
  }

  BlockGraph g;
  const int32_t x = g.Input(0, kWidth);
  const int32_t y = g.Input(1, kWidth);
  const int32_t z = g.Input(2, kWidth);
};

// ---- What is there already.

TEST_F(BlockGraphTest, AValueIsAddedOnce) {
  EXPECT_EQ(g.Input(0, kWidth), x);
  EXPECT_NE(g.Input(1, kWidth), x);
  EXPECT_EQ(Unary(Opcode::kTanh, x), Unary(Opcode::kTanh, x));
  EXPECT_NE(Unary(Opcode::kTanh, x), Unary(Opcode::kTanh, y));
  EXPECT_NE(Unary(Opcode::kTanh, x), Unary(Opcode::kSigmoid, x));
  EXPECT_EQ(g.Product(x, 0, false, 3), g.Product(x, 0, false, 3));
  EXPECT_NE(g.Product(x, 0, false, 3), g.Product(x, 0, true, 3));
  EXPECT_NE(g.Product(x, 0, false, 3), g.Product(x, 1, false, 3));
  EXPECT_NE(g.Reduce(Reduction::kSum, x), g.Reduce(Reduction::kMean, x));
  EXPECT_NE(g.Shared(0, 1), g.Shared(0, kWidth));
}

TEST_F(BlockGraphTest, ConstantsAreTheSameBitByBit) {
  EXPECT_EQ(g.Constant(0.5), g.Constant(0.5));
  EXPECT_EQ(g.Constant(NAN), g.Constant(NAN));
  EXPECT_NE(g.Constant(0.5), g.Constant(NAN));
  // What is divided by them differs.
  EXPECT_NE(g.Constant(0.0), g.Constant(-0.0));
}

TEST_F(BlockGraphTest, OneColumnStandsForAll) {
  const int32_t mean = g.Reduce(Reduction::kMean, x);
  EXPECT_EQ(g[mean].width, 1);
  EXPECT_EQ(g[Binary(Opcode::kSub, mean, x)].width, kWidth);
  EXPECT_EQ(g[Binary(Opcode::kSub, mean, g.Constant(1))].width, 1);
}

TEST_F(BlockGraphTest, ASliceOfASliceIsOneSlice) {
  const int32_t outer = g.Slice(x, 1, 4);
  const int32_t inner = g.Slice(outer, 2, 1);
  EXPECT_EQ(g[inner].operands, std::vector<int32_t>{x});
  EXPECT_EQ(g[inner].offset, 3);
  EXPECT_EQ(g.Slice(x, 0, kWidth), x);
}

TEST_F(BlockGraphTest, WhatIsJoinedOfWhatIsJoinedIsJoinedOnce) {
  const int32_t joined = g.Concat({g.Concat({x, y}), z});
  EXPECT_EQ(g[joined].operands, (std::vector<int32_t>{x, y, z}));
  EXPECT_EQ(g[joined].width, 3 * kWidth);
  EXPECT_EQ(g.Concat({x}), x);
}

// ---- Rows that are all the same.

TEST_F(BlockGraphTest, WhatIsCutOutOfRowsHasRows) {
  const int32_t joined =
      g.Concat({g.Constant(0, 2), x, g.Slice(g.Shared(0, 5), 1, 4)});
  EXPECT_EQ(g[g.Slice(joined, 0, 1)].axis, 0);
  EXPECT_EQ(g[g.Slice(g.Slice(joined, 0, 2), 1, 1)].axis, 0);
  EXPECT_EQ(g[g.Slice(joined, 2 + kWidth, 3)].axis, 0);
  // What is joined has none of its own.
  EXPECT_EQ(g[g.Constant(0, 2)].axis, -1);
  EXPECT_EQ(g[g.Slice(g.Shared(0, 5), 1, 4)].axis, -1);
}

TEST_F(BlockGraphTest, RowsOfTwoAxesThatAreAllTheSameAreTwoValues) {
  const int32_t other = g.AddAxis();
  const int32_t one = g.Constant(1);
  EXPECT_NE(g.Along(one, 0), g.Along(one, other));
  EXPECT_EQ(g.Along(one, 0), g.Along(one, 0));
  EXPECT_EQ(g.Along(one, -1), one);
  EXPECT_EQ(g.Along(x, other), x);
}

TEST_F(BlockGraphTest, WhatIsOnlyCutHasRowsWhereItIsComputed) {
  const int32_t joined = g.Concat({g.Constant(0, 2), x});
  const int32_t sum = Binary(Opcode::kAdd, joined, g.Shared(0, 2 + kWidth));
  g.outputs = {Unary(Opcode::kTanh, g.Slice(sum, 0, 2))};
  const BlockGraph fused = Fused(g);
  EXPECT_EQ(fused[fused.outputs[0]].axis, 0);
}

// ---- Fusing.

TEST_F(BlockGraphTest, WhatNoOutputNeedsGoes) {
  Unary(Opcode::kExp, Unary(Opcode::kLog, y));
  g.outputs = {Unary(Opcode::kTanh, x)};
  const BlockGraph fused = Fused(g);
  EXPECT_EQ(OpcodesOf(fused), std::vector<Opcode>{Opcode::kTanh});
  EXPECT_EQ(CountOf(fused, NodeKind::kInput), 1);
}

TEST_F(BlockGraphTest, ASumIsFusedWithItsActivation) {
  g.outputs = {Unary(Opcode::kSigmoid, Binary(Opcode::kAdd, x, y)),
               Unary(Opcode::kTanh, Binary(Opcode::kAdd, y, z))};
  EXPECT_EQ(OpcodesOf(Fused(g)),
            (std::vector<Opcode>{Opcode::kSigmoidOfSum, Opcode::kTanhOfSum}));
}

TEST_F(BlockGraphTest, AProductIsFusedWithASum) {
  const int32_t product = Binary(Opcode::kMul, x, y);
  g.outputs = {Binary(Opcode::kAdd, z, product)};
  const BlockGraph fused = Fused(g);
  EXPECT_EQ(OpcodesOf(fused), std::vector<Opcode>{Opcode::kMulAdd});
  // x * y + z, whatever the order was.
  const Node& node = fused[fused.outputs[0]];
  std::vector<int32_t> inputs;
  for (const int32_t operand : node.operands) {
    inputs.push_back(fused[operand].index);
  }
  EXPECT_EQ(inputs, (std::vector<int32_t>{0, 1, 2}));
}

TEST_F(BlockGraphTest, OnlyWhatIsSubtractedIsFused) {
  g.outputs = {Binary(Opcode::kSub, z, Binary(Opcode::kMul, x, y))};
  EXPECT_EQ(OpcodesOf(Fused(g)), std::vector<Opcode>{Opcode::kMulSubFrom});
  g.outputs = {Binary(Opcode::kSub, Binary(Opcode::kMul, x, y), z)};
  EXPECT_EQ(OpcodesOf(Fused(g)),
            (std::vector<Opcode>{Opcode::kMul, Opcode::kSub}));
}

TEST_F(BlockGraphTest, WhatIsReadTwiceStays) {
  const int32_t sum = Binary(Opcode::kAdd, x, y);
  g.outputs = {Unary(Opcode::kTanh, sum), Unary(Opcode::kSigmoid, sum)};
  EXPECT_EQ(
      OpcodesOf(Fused(g)),
      (std::vector<Opcode>{Opcode::kAdd, Opcode::kTanh, Opcode::kSigmoid}));
  g.outputs = {Unary(Opcode::kTanh, sum), sum};
  EXPECT_EQ(OpcodesOf(Fused(g)),
            (std::vector<Opcode>{Opcode::kAdd, Opcode::kTanh}));
}

TEST_F(BlockGraphTest, WhatHasOneColumnIsNotFusedWithWhatHasAll) {
  const int32_t mean = g.Reduce(Reduction::kMean, x);
  const int32_t square = Binary(Opcode::kMul, mean, mean);
  g.outputs = {Binary(Opcode::kAdd, square, y)};
  EXPECT_EQ(OpcodesOf(Fused(g)),
            (std::vector<Opcode>{Opcode::kMul, Opcode::kAdd}));
}

// ---- Slices.

TEST_F(BlockGraphTest, WhatIsOnlyCutIsComputedWhereItIsRead) {
  const int32_t product = g.Product(x, 0, false, 2 * kWidth);
  const int32_t gates = Binary(Opcode::kAdd, product, g.Shared(1, 2 * kWidth));
  g.outputs = {Unary(Opcode::kSigmoid, g.Slice(gates, 0, kWidth)),
               Unary(Opcode::kTanh, g.Slice(gates, kWidth, kWidth))};
  const BlockGraph fused = Fused(g);
  EXPECT_EQ(OpcodesOf(fused),
            (std::vector<Opcode>{Opcode::kSigmoidOfSum, Opcode::kTanhOfSum}));
  // Of the product and of the bias, for each gate.
  EXPECT_EQ(CountOf(fused, NodeKind::kSlice), 4);
  EXPECT_EQ(CountOf(fused, NodeKind::kProduct), 1);
}

TEST_F(BlockGraphTest, SlicesGoThroughAllThatIsOnlyCut) {
  const int32_t deep =
      Unary(Opcode::kNeg, Unary(Opcode::kTanh, Unary(Opcode::kExp, x)));
  g.outputs = {g.Slice(deep, 1, 2)};
  const BlockGraph fused = Fused(g);
  for (int32_t id = 0; id < fused.size(); ++id) {
    if (fused[id].kind == NodeKind::kElementwise) {
      EXPECT_EQ(fused[id].width, 2);
    }
  }
  EXPECT_EQ(CountOf(fused, NodeKind::kSlice), 1);
}

TEST_F(BlockGraphTest, WhatIsReadWholeIsComputedOnce) {
  const int32_t tanh = Unary(Opcode::kTanh, x);
  g.outputs = {g.Slice(tanh, 1, 2), tanh};
  EXPECT_EQ(OpcodesOf(Fused(g)), std::vector<Opcode>{Opcode::kTanh});
}

TEST_F(BlockGraphTest, AColumnThatStandsForAllIsNotCut) {
  const int32_t mean = g.Reduce(Reduction::kMean, x);
  g.outputs = {g.Slice(Binary(Opcode::kSub, x, mean), 2, 3)};
  const BlockGraph fused = Fused(g);
  const Node& node = fused[fused.outputs[0]];
  EXPECT_EQ(node.width, 3);
  EXPECT_EQ(fused[node.operands[1]].kind, NodeKind::kReduction);
}

}  // namespace
}  // namespace recursive_tf
