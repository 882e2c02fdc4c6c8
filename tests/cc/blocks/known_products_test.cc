#include "recursive_tf/cc/blocks/known_products.h"

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "tests/cc/blocks/num_spared.h"
#include "tests/cc/blocks/random_rows.h"

namespace recursive_tf {
namespace {

// Two rows side by side times a matrix, and tanh of two halves of that: a
// matrix of two segments.
struct Pairs {
  int64_t left_width = 130;
  int64_t right_width = 70;
  int64_t num_columns = 140;
  int64_t num_rows = 100;
  // How many different rows there are for each side.
  int64_t num_left = 20;
  int64_t num_right = 60;
  // How many rows of each side are said to be shared.
  int64_t num_shared = 100;
  Matrices matrices = Matrices::kPacked;
};

BlockGraph GraphOf(const Pairs& pairs) {
  BlockGraph g;
  const int32_t both =
      g.Concat({g.Input(0, pairs.left_width), g.Input(1, pairs.right_width)});
  const int32_t product = g.Product(both, 0, false, pairs.num_columns);
  const int64_t half = pairs.num_columns / 2;
  for (const int64_t from : {int64_t{0}, half}) {
    g.outputs.push_back(
        g.Elementwise(Opcode::kTanh, {g.Slice(product, from, half)}));
  }
  return g;
}

template <typename T>
SparingRun<T> RunPairs(const Pairs& pairs, const Kernels<T>& kernels,
                       int num_threads) {
  std::mt19937 random(3);
  const auto draw = [&random](int64_t count) {
    return Cast<T>(RandomNumbers(count, &random));
  };
  std::vector<T> left = draw(pairs.num_left * pairs.left_width);
  std::vector<T> right = draw(pairs.num_right * pairs.right_width);
  const std::vector<T> matrix =
      draw((pairs.left_width + pairs.right_width) * pairs.num_columns);
  std::vector<T*> lefts;
  std::vector<T*> rights;
  for (int64_t row = 0; row < pairs.num_rows; ++row) {
    lefts.push_back(left.data() + 7 * row % pairs.num_left * pairs.left_width);
    rights.push_back(right.data() +
                     7 * row % pairs.num_right * pairs.right_width);
  }
  BlockRows<T> rows;
  rows.num_rows = {pairs.num_rows};
  rows.inputs = {{nullptr, 0, lefts.data()}, {nullptr, 0, rights.data()}};
  rows.num_shared = {pairs.num_shared, pairs.num_shared};
  return RunSparing(GraphOf(pairs), kernels, num_threads, pairs.matrices,
                    matrix, std::move(rows));
}

int64_t NumSpared(const Pairs& given) {
  const auto run = [](const Pairs& each, const auto& kernels, int threads) {
    return RunPairs(each, kernels, threads);
  };
  const auto of_floats = NumSparedAs<float>(given, run, 2e-5);
  EXPECT_EQ(NumSparedAs<double>(given, run, 1e-12), of_floats);
  return of_floats;
}

TEST(KnownProductsTest, RowsThatComeSeveralTimesAreMultipliedOnce) {
  EXPECT_EQ(NumSpared({}), (80 * 130 + 40 * 70) * 140);
}

TEST(KnownProductsTest, WidthsMayBeOdd) {
  Pairs pairs;
  pairs.left_width = 67;
  pairs.right_width = 131;
  pairs.num_columns = 258;
  EXPECT_EQ(NumSpared(pairs), (80 * 67 + 40 * 131) * 258);
}

TEST(KnownProductsTest, APieceWithManyDifferentRowsIsMultipliedRowByRow) {
  Pairs pairs;
  pairs.num_right = 76;
  EXPECT_EQ(NumSpared(pairs), 80 * 130 * 140);
  pairs.num_left = 76;
  EXPECT_EQ(NumSpared(pairs), 0);
}

TEST(KnownProductsTest, RowsAreNotComparedIfFewAreShared) {
  Pairs pairs;
  pairs.num_shared = 24;
  EXPECT_EQ(NumSpared(pairs), 0);
  pairs.num_shared = 25;
  EXPECT_GT(NumSpared(pairs), 0);
}

TEST(KnownProductsTest, FewRowsAreMultipliedRowByRow) {
  Pairs pairs;
  pairs.num_rows = 95;
  EXPECT_EQ(NumSpared(pairs), 0);
  pairs.num_rows = 96;
  EXPECT_EQ(NumSpared(pairs), (76 * 130 + 36 * 70) * 140);
}

TEST(KnownProductsTest, SmallProductsAreNotWorthIt) {
  Pairs pairs;
  pairs.left_width = 63;
  pairs.right_width = 64;
  pairs.num_columns = 128;
  EXPECT_EQ(NumSpared(pairs), 40 * 64 * 128);
}

TEST(KnownProductsTest, MatricesThatStandAreReadForAllRows) {
  Pairs pairs;
  pairs.matrices = Matrices::kStanding;
  EXPECT_EQ(NumSpared(pairs), 0);
}

}  // namespace
}  // namespace recursive_tf
