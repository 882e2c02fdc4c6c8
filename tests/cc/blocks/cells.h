#ifndef TESTS_CC_BLOCKS_CELLS_H_
#define TESTS_CC_BLOCKS_CELLS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

// A graph, how wide its inputs are, and how large its invariants. Along axis 1,
// if there is one, stand items of lists that rows of axis 0 have: owners 0.
struct Case {
  BlockGraph graph;
  std::vector<int64_t> input_widths;
  std::vector<int64_t> invariant_sizes;
};

inline int32_t Sum(BlockGraph* g, int32_t a, int32_t b) {
  return g->Elementwise(Opcode::kAdd, {a, b});
}
inline int32_t Times(BlockGraph* g, int32_t a, int32_t b) {
  return g->Elementwise(Opcode::kMul, {a, b});
}

// An inner node of a binary TreeLSTM: of both h, joined, and of c of the left
// and the right child. Gives h, c, and what the backward part keeps.
inline Case TreeLstmForward(int64_t size) {
  Case made;
  made.input_widths = {2 * size, size, size};
  made.invariant_sizes = {2 * size * 5 * size, 5 * size};
  BlockGraph& g = made.graph;
  const int32_t h = g.Input(0, 2 * size);
  const int32_t left = g.Input(1, size);
  const int32_t right = g.Input(2, size);
  const int32_t z = g.Elementwise(
      Opcode::kAdd, {g.Product(h, 0, /*is_transposed=*/false, 5 * size),
                     g.Shared(1, 5 * size)});
  const auto gate = [&](int i, Opcode opcode) {
    return g.Elementwise(opcode, {g.Slice(z, i * size, size)});
  };
  const int32_t in = gate(0, Opcode::kSigmoid);
  const int32_t forget_left = gate(1, Opcode::kSigmoid);
  const int32_t forget_right = gate(2, Opcode::kSigmoid);
  const int32_t out = gate(3, Opcode::kSigmoid);
  const int32_t update = gate(4, Opcode::kTanh);
  const int32_t c = Sum(
      &g, Times(&g, in, update),
      Sum(&g, Times(&g, forget_left, left), Times(&g, forget_right, right)));
  const int32_t tanh = g.Elementwise(Opcode::kTanh, {c});
  g.outputs = {Times(&g, out, tanh), c, tanh, in, update};
  return made;
}

// Its gradient: of those of h and c, the gates, tanh(c), both c of children,
// and both h. Gives the gradients of both h, of each c, and of the weights.
inline Case TreeLstmBackward(int64_t size) {
  Case made;
  made.input_widths = std::vector<int64_t>(10, size);
  made.input_widths.push_back(2 * size);
  made.invariant_sizes = {2 * size * 5 * size};
  BlockGraph& g = made.graph;
  std::vector<int32_t> in;
  for (int32_t i = 0; i < 10; ++i) in.push_back(g.Input(i, size));
  const int32_t h = g.Input(10, 2 * size);
  const int32_t grad_h = in[0];
  const int32_t tanh = in[7];
  const auto sigmoid_grad = [&](int32_t gate, int32_t a, int32_t b) {
    return g.Elementwise(Opcode::kSigmoidGrad, {gate, Times(&g, a, b)});
  };
  const int32_t out = in[5];
  const int32_t update = in[6];
  const int32_t grad_c =
      Sum(&g, in[1],
          g.Elementwise(Opcode::kTanhGrad, {tanh, Times(&g, grad_h, out)}));
  const int32_t z = g.Concat({
      sigmoid_grad(in[2], grad_c, update),
      sigmoid_grad(in[3], grad_c, in[8]),
      sigmoid_grad(in[4], grad_c, in[9]),
      sigmoid_grad(out, grad_h, tanh),
      g.Elementwise(Opcode::kTanhGrad, {update, Times(&g, grad_c, in[2])}),
  });
  g.outputs = {g.Product(z, 0, /*is_transposed=*/true, 2 * size),
               Times(&g, grad_c, in[3]), Times(&g, grad_c, in[4]),
               g.Outer(h, z), g.ColumnSums(z)};
  return made;
}

// An inner node of a Child-Sum TreeLSTM: of what is looked up for it, and of h
// and c of its children, which are items. Gives h, c, and the forget gates.
inline Case ChildSumForward(int64_t size) {
  Case made;
  made.input_widths = {4 * size, size, size};
  made.invariant_sizes = {4 * size, size * 3 * size, size * size};
  BlockGraph& g = made.graph;
  const int32_t items = g.AddAxis();
  const int32_t owners = g.AddOwners(items, 0);
  const int32_t x = Sum(&g, g.Input(0, 4 * size), g.Shared(0, 4 * size));
  const int32_t h = g.Input(1, size, items);
  const int32_t c = g.Input(2, size, items);
  const int32_t z =
      Sum(&g, g.Slice(x, 0, 3 * size),
          g.Product(g.OfItems(Reduction::kSum, h, owners), 1, false, 3 * size));
  const int32_t forget = g.Elementwise(
      Opcode::kSigmoid, {Sum(&g, g.Product(h, 2, false, size),
                             g.OfOwner(g.Slice(x, 3 * size, size), owners))});
  const auto gate = [&](int i, Opcode opcode) {
    return g.Elementwise(opcode, {g.Slice(z, i * size, size)});
  };
  const int32_t own =
      Sum(&g, Times(&g, gate(0, Opcode::kSigmoid), gate(1, Opcode::kTanh)),
          g.OfItems(Reduction::kSum, Times(&g, forget, c), owners));
  g.outputs = {
      Times(&g, gate(2, Opcode::kSigmoid), g.Elementwise(Opcode::kTanh, {own})),
      own, forget};
  return made;
}

// A product of which each row is normalized, scaled and shifted. Gives it, and
// the variance of each row.
inline Case NormalizedLayer(int64_t size) {
  Case made;
  made.input_widths = {size};
  made.invariant_sizes = {size * size, size, size, 1};
  BlockGraph& g = made.graph;
  const int32_t x =
      g.Product(g.Input(0, size), 0, /*is_transposed=*/false, size);
  const int32_t mean = g.Reduce(Reduction::kMean, x);
  const int32_t variance = g.Reduce(
      Reduction::kMean, g.Elementwise(Opcode::kSquaredDifference, {x, mean}));
  const int32_t rsqrt =
      g.Elementwise(Opcode::kRsqrt, {Sum(&g, variance, g.Constant(1e-3))});
  const int32_t scale = Times(&g, rsqrt, g.Shared(1, size));
  const int32_t shifted =
      g.Elementwise(Opcode::kSub, {g.Shared(2, size), Times(&g, mean, scale)});
  const int32_t y = Sum(&g, Times(&g, x, scale), shifted);
  g.outputs = {Times(&g, y, g.Shared(3, 1)), variance};
  return made;
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_CELLS_H_
