#include "recursive_tf/cc/blocks/block_runner.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tests/cc/blocks/cells.h"
#include "tests/cc/blocks/check_case.h"
#include "tests/cc/blocks/evaluate.h"

namespace recursive_tf {
namespace {

TEST(BlockRunnerTest, GatesOfASplitProductAreComputedWhereTheyStand) {
  CheckAll(TreeLstmForward(21));
}

TEST(BlockRunnerTest, GradientsOfGatesAreMultipliedWhereTheyStand) {
  CheckAll(TreeLstmBackward(21));
}

TEST(BlockRunnerTest, AProductTakesWhatThePhaseBeforeJoins) {
  Case given;
  given.input_widths = {5, 19};
  given.invariant_sizes = {int64_t{33} * 24};
  BlockGraph& g = given.graph;
  const int32_t a = g.Elementwise(Opcode::kTanh, {g.Input(0, 5)});
  const int32_t b = g.Elementwise(Opcode::kNeg, {g.Input(1, 19)});
  const int32_t joined = g.Concat({a, b});
  g.outputs = {g.Product(joined, 0, true, 33), joined};
  CheckAll(given);
}

TEST(BlockRunnerTest, DeepMatricesAreMultipliedPieceByPiece) {
  Case given{{}, {500, 300}, {int64_t{800} * 70}};
  BlockGraph& g = given.graph;
  const int32_t joined = g.Concat({g.Input(0, 500), g.Input(1, 300)});
  g.outputs = {g.Elementwise(Opcode::kTanh, {g.Product(joined, 0, false, 70)})};
  CheckAll(given);
}

// A graph with a product of two matrices of each row, the operands of which are
// given, computed and joined.
Case RowProducts(const RowProductShape& shape, bool is_left_by_columns) {
  Case given;
  const int64_t left = shape.num_rows * shape.depth;
  const int64_t right = shape.depth * shape.num_columns;
  given.input_widths = {left, right, 1};
  given.invariant_sizes = {left * right};
  BlockGraph& g = given.graph;
  RowProductShape own = shape;
  own.left_row = is_left_by_columns ? 1 : shape.depth;
  own.left_column = is_left_by_columns ? shape.num_rows : 1;
  const int32_t x = g.Input(0, left);
  const int32_t made = g.Product(x, 0, false, right);
  const int32_t of_made = g.RowProduct(x, made, own);
  const int32_t of_given =
      g.RowProduct(g.Elementwise(Opcode::kTanh, {x}), g.Input(1, right), own);
  g.outputs = {
      of_made,
      g.Elementwise(Opcode::kTanh,
                    {g.Elementwise(Opcode::kAdd, {of_made, of_given})}),
      g.Concat({g.Input(2, 1), of_given, g.Input(2, 1)}),
      g.ColumnSums(of_given)};
  return given;
}

TEST(BlockRunnerTest, MatricesOfEachRowAreMultiplied) {
  for (const int64_t num_rows : {1, 3, 4, 9}) {
    for (const int64_t depth : {1, 5, 16}) {
      for (const int64_t num_columns : {1, 7, 16, 37}) {
        RowProductShape shape{num_rows, depth, num_columns};
        CheckAll(RowProducts(shape, false));
        CheckAll(RowProducts(shape, true));
        shape.is_right_by_columns = true;
        CheckAll(RowProducts(shape, false));
      }
    }
  }
}

TEST(BlockRunnerTest, RowsTakeTheirItemsAndItemsTheirRows) {
  CheckAll(ChildSumForward(21));
}

TEST(BlockRunnerTest, ListsMayAllBeEmpty) {
  // One row, which has no items.
  const Case given = ChildSumForward(5);
  for (int64_t num_rows = 1; num_rows < 4; ++num_rows) {
    std::mt19937 random(static_cast<uint32_t>(num_rows));
    Check<float>(given, num_rows, InstructionSets().front(), 2, 2e-5);
  }
}

TEST(BlockRunnerTest, ALayerIsNormalized) { CheckAll(NormalizedLayer(37)); }

// Adds values of any kind, of those that are there.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  Case Make() {
    const int num_inputs = Draw(1, 3);
    if (Draw(0, 2) == 0) g().AddOwners(g().AddAxis(), 0);
    for (int i = 0; i < num_inputs; ++i) {
      case_.input_widths.push_back(Width());
      const int32_t axis = i == 0 ? 0 : Draw(0, g().num_axes() - 1);
      ids_.push_back(g().Input(i, case_.input_widths.back(), axis));
    }
    const int num_nodes = Draw(1, 14);
    for (int i = 0; i < num_nodes; ++i) ids_.push_back(AddNode());
    const int num_outputs = Draw(1, 4);
    for (int i = 0; i < num_outputs; ++i) {
      g().outputs.push_back(i == 0 ? ids_.back() : Any());
    }
    const int32_t left = Any();
    if (Draw(0, 2) == 0) g().outputs.push_back(g().Outer(left, Beside(left)));
    if (Draw(0, 2) == 0) g().outputs.push_back(g().ColumnSums(Any()));
    if (Draw(0, 2) == 0) {
      const int32_t x = g().ColumnSums(g().Concat({ids_[0], ids_[0]}));
      const int32_t y = g().ColumnSums(g().Concat({ids_[0]}));
      g().outputs.push_back(g().AddSums({x, x, g().AddSums({x, x})}));
      g().outputs.push_back(y);
    }
    return std::move(case_);
  }

 private:
  BlockGraph& g() { return case_.graph; }
  int Draw(int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random_);
  }
  int64_t Width() {
    const int64_t widths[] = {1, 2, 5, 8, 16, 17, 33};
    return widths[Draw(0, 6)];
  }
  int32_t Any() { return ids_[Draw(0, static_cast<int>(ids_.size()) - 1)]; }
  // Returns any value along the same axis.
  int32_t Beside(int32_t of) {
    for (;;) {
      const int32_t id = Any();
      if (g()[id].axis == g()[of].axis) return id;
    }
  }
  int32_t AnyLike(int32_t of) {
    const int64_t width = g()[of].width;
    for (int i = 0; i < 8; ++i) {
      const int32_t id = Beside(of);
      if (g()[id].width == width || g()[id].width == 1) return id;
    }
    switch (Draw(0, 2)) {
      case 0:
        return g().Constant(Draw(-2, 2) * 0.25);
      case 1:
        return g().Shared(Invariant(width), width);
      default:
        return g().Shared(Invariant(1), 1);
    }
  }
  int32_t Invariant(int64_t size) {
    case_.invariant_sizes.push_back(size);
    return static_cast<int32_t>(case_.invariant_sizes.size()) - 1;
  }

  int32_t AddNode() {
    const int32_t of = Any();
    const int64_t width = g()[of].width;
    switch (Draw(0, g().owners().empty() ? 11 : 13)) {
      case 12:
        return g()[of].axis == 0 ? g().OfOwner(of, 0)
                                 : g().OfItems(Reduction::kSum, of, 0);
      case 13: {
        if (g()[of].axis == 0) return g().OfOwner(of, 0);
        const Reduction reduction =
            Draw(0, 1) == 0 ? Reduction::kMax : Reduction::kMin;
        // Which number there is of none depends on its type.
        return g().Elementwise(Opcode::kTanh, {g().OfItems(reduction, of, 0)});
      }
      case 10: {
        // A row times itself, as a column or as a number; or its transpose.
        RowProductShape shape{width, 1, width, 1, 1, Draw(0, 1) == 1};
        if (Draw(0, 1) == 0) shape = {1, width, 1, width, 1, Draw(0, 1) == 1};
        if (shape.num_rows > 17) shape = {1, 1, width, 1, 1, false};
        return g().RowProduct(of, of, shape);
      }
      case 0:
        return g().Product(of, Invariant(width * 5), Draw(0, 1) == 1, 5);
      case 1: {
        const int64_t columns = Width();
        const int32_t product =
            g().Product(of, Invariant(width * 3 * columns), false, 3 * columns);
        return g().Elementwise(
            Opcode::kTanh, {g().Slice(product, Draw(0, 2) * columns, columns)});
      }
      case 2: {
        const int64_t offset = Draw(0, static_cast<int>(width) - 1);
        return g().Slice(of, offset, Draw(1, static_cast<int>(width - offset)));
      }
      case 3:
        return g().Concat({of, Beside(of)});
      case 4:
        return g().Reduce(static_cast<Reduction>(Draw(0, 3)), of);
      case 5:
        return g().Elementwise(Opcode::kSigmoid, {of});
      case 6:
        return g().Elementwise(Opcode::kTanhGrad, {of, AnyLike(of)});
      case 7:
        if (Draw(0, 2) == 0) {
          const int32_t mask =
              g().Elementwise(Opcode::kLess, {of, g().Constant(0.1)});
          return g().Elementwise(Opcode::kSelect,
                                 {mask, AnyLike(of), AnyLike(of)});
        }
        return g().Elementwise(Opcode::kSub, {AnyLike(of), of});
      case 8:
        return g().Elementwise(
            Opcode::kTanh, {g().Elementwise(Opcode::kMul, {of, AnyLike(of)})});
      case 9: {
        const int32_t number =
            g().Reduce(Draw(0, 1) == 0 ? Reduction::kMax : Reduction::kMin,
                       g().Elementwise(Opcode::kLess, {of, g().Constant(0.1)}));
        const int64_t columns = Width();
        return g().LookUp(number, Invariant(2 * columns), columns);
      }
      default:
        return g().Elementwise(
            Opcode::kTanh, {g().Elementwise(Opcode::kAdd, {of, AnyLike(of)})});
    }
  }

  std::mt19937 random_;
  Case case_;
  std::vector<int32_t> ids_;
};

// A softmax of so many classes, and its part of a loss.
Case SoftmaxLayer(int64_t size, int64_t num_classes) {
  Case made;
  made.input_widths = {size, 1};
  made.invariant_sizes = {size * num_classes, num_classes};
  BlockGraph& g = made.graph;
  const int32_t z = Sum(
      &g, g.Product(g.Input(0, size), 0, /*is_transposed=*/false, num_classes),
      g.Shared(1, num_classes));
  const int32_t logits =
      g.Elementwise(Opcode::kSub, {z, g.Reduce(Reduction::kMax, z)});
  const int32_t exps = g.Elementwise(Opcode::kExp, {logits});
  const int32_t sum = g.Reduce(Reduction::kSum, exps);
  const int32_t scaled = Times(&g, logits, g.Input(1, 1));
  g.outputs = {
      g.Elementwise(Opcode::kDiv, {exps, sum}),
      g.Elementwise(Opcode::kSub, {g.Elementwise(Opcode::kLog, {sum}),
                                   g.Reduce(Reduction::kMean, scaled)})};
  return made;
}

TEST(BlockRunnerTest, FewColumnsAreComputedColumnByColumn) {
  for (const int64_t num_classes : {2, 5, 7, 16, 19}) {
    CheckAll(SoftmaxLayer(30, num_classes), {1, 6, 61, 300});
  }
}

TEST(BlockRunnerTest, RandomGraphsComputeWhatTheyAre) {
  constexpr int kGraphs = 600;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Case given = RandomGraph(seed).Make();
    const InstructionSet set =
        InstructionSets()[seed % InstructionSets().size()];
    Check<float>(given, 1 + seed % 53, set, 1 + static_cast<int>(seed % 3),
                 1e-3);
    Check<double>(given, 1 + seed % 53, set, 1 + static_cast<int>(seed % 2),
                  1e-10);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace recursive_tf
