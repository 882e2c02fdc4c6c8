#include "recursive_tf/cc/blocks/added_products.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "tests/cc/blocks/num_spared.h"
#include "tests/cc/blocks/random_rows.h"

namespace recursive_tf {
namespace {

// The gradient of two children side by side: rows of two parts, times the
// transpose of a matrix.
struct Children {
  int64_t num_rows = 200;
  // How many different rows each child has; 0 if all of its rows are taken.
  int64_t num_left = 30;
  int64_t num_right = 60;
  // How many of them are said to be added up: all, or 0.
  int64_t num_shared = 200;
  int64_t left_width = 130;
  int64_t right_width = 70;
  // Of the rows that are multiplied.
  int64_t first_width = 67;
  int64_t second_width = 33;
  // Whether the block gives something else of the product, too.
  bool is_read = false;
  bool is_given_twice = false;
  Matrices matrices = Matrices::kPacked;

  int64_t width() const { return left_width + right_width; }
  int64_t depth() const { return first_width + second_width; }
};

BlockGraph GraphOf(const Children& given) {
  BlockGraph g;
  const int32_t rows =
      g.Concat({g.Input(0, given.first_width), g.Input(1, given.second_width)});
  const int32_t product = g.Product(rows, 0, true, given.width());
  g.outputs.push_back(product);
  if (given.is_read) {
    g.outputs.push_back(g.Elementwise(Opcode::kTanh, {product}));
  }
  if (given.is_given_twice) g.outputs.push_back(product);
  return g;
}

AddedColumns AddedOf(int64_t width, int64_t num_rows, int64_t num_groups) {
  AddedColumns columns;
  columns.width = width;
  if (num_groups == 0) return columns;
  columns.groups = EqualRows(
      static_cast<int32_t>(num_rows),
      [num_groups](int32_t row) { return row % num_groups; },
      [num_groups](int32_t a, int32_t b) { return (a - b) % num_groups == 0; });
  return columns;
}

// Returns what rows add up to, in columns of an output, as an adjoint does; and
// counts those that are 0.
template <typename T>
std::vector<T> AddedUp(const std::vector<T>& rows, int64_t num_columns,
                       int64_t begin, int64_t width, int64_t num_groups,
                       int64_t* num_clear) {
  const auto num_rows = static_cast<int64_t>(rows.size()) / num_columns;
  if (num_groups == 0) num_groups = num_rows;
  std::vector<T> sums(num_groups * width, T(0));
  for (int64_t row = 0; row < num_rows; ++row) {
    bool is_clear = true;
    for (int64_t i = 0; i < width; ++i) {
      const T number = rows[row * num_columns + begin + i];
      is_clear = is_clear && number == 0;
      sums[row % num_groups * width + i] += number;
    }
    *num_clear += is_clear ? 1 : 0;
  }
  return sums;
}

// The outputs of a run are what rows add up to, of each child.
template <typename T>
SparingRun<T> RunChildren(const Children& given, const Kernels<T>& kernels,
                          int num_threads) {
  std::mt19937 random(7);
  const auto draw = [&random](int64_t count) {
    return Cast<T>(RandomNumbers(count, &random));
  };
  std::vector<T> first = draw(given.num_rows * given.first_width);
  std::vector<T> second = draw(given.num_rows * given.second_width);
  const std::vector<T> matrix = draw(given.width() * given.depth());
  const BlockGraph graph = GraphOf(given);
  const AddedOutput added = {
      AddedOf(given.left_width, given.num_rows, given.num_left),
      AddedOf(given.right_width, given.num_rows, given.num_right)};
  BlockRows<T> rows;
  rows.num_rows = {given.num_rows};
  rows.inputs = {{first.data(), given.first_width},
                 {second.data(), given.second_width}};
  rows.num_shared = {0, 0};
  if (given.num_shared > 0) rows.added.assign(graph.outputs.size(), &added);
  SparingRun<T> run = RunSparing(graph, kernels, num_threads, given.matrices,
                                 matrix, std::move(rows));
  const std::vector<T> output = std::move(run.outputs.front());
  int64_t num_clear = 0;
  run.outputs = {AddedUp(output, given.width(), 0, given.left_width,
                         given.num_left, &num_clear),
                 AddedUp(output, given.width(), given.left_width,
                         given.right_width, given.num_right, &num_clear)};
  EXPECT_EQ(num_clear > 0, run.num_flops_spared > 0);
  return run;
}

int64_t NumSpared(const Children& given) {
  const auto run = [](const Children& each, const auto& kernels, int threads) {
    return RunChildren(each, kernels, threads);
  };
  const auto of_floats = NumSparedAs<float>(given, run, 1e-4);
  EXPECT_EQ(NumSparedAs<double>(given, run, 1e-12), of_floats);
  return of_floats;
}

TEST(AddedProductsTest, RowsThatAreAddedUpAreMultipliedOnce) {
  EXPECT_EQ(NumSpared({}), (170 * 130 + 140 * 70) * 100);
}

TEST(AddedProductsTest, WidthsMayBeOdd) {
  Children given;
  given.left_width = 61;
  given.right_width = 259;
  given.first_width = 1;
  EXPECT_EQ(NumSpared(given), (170 * 61 + 140 * 259) * 34);
}

TEST(AddedProductsTest, OneChildMayHaveRowsThatAreAllTaken) {
  Children given;
  given.num_right = 0;
  EXPECT_EQ(NumSpared(given), 170 * 130 * 100);
  given.num_left = 0;
  EXPECT_EQ(NumSpared(given), 0);
}

// A panel of 64 columns, in which both meet, counts for both.
TEST(AddedProductsTest, ManyGroupsDoNotPay) {
  Children given;
  given.num_left = 150;
  given.num_right = 150;
  EXPECT_EQ(NumSpared(given), 0);
}

TEST(AddedProductsTest, FewRowsAreMultipliedRowByRow) {
  Children given;
  given.num_rows = 95;
  EXPECT_EQ(NumSpared(given), 0);
  given.num_rows = 96;
  EXPECT_EQ(NumSpared(given), (66 * 130 + 36 * 70) * 100);
}

TEST(AddedProductsTest, SmallProductsAreNotWorthIt) {
  Children given;
  given.left_width = 10;
  EXPECT_EQ(NumSpared(given), 0);
}

TEST(AddedProductsTest, MatricesThatStandAreReadForAllRows) {
  Children given;
  given.matrices = Matrices::kStanding;
  EXPECT_EQ(NumSpared(given), 0);
}

TEST(AddedProductsTest, WhatTheBlockReadsItselfIsThereRowByRow) {
  Children given;
  given.is_read = true;
  EXPECT_EQ(NumSpared(given), 0);
}

TEST(AddedProductsTest, WhatIsGivenTwiceIsThereRowByRow) {
  Children given;
  given.is_given_twice = true;
  EXPECT_EQ(NumSpared(given), 0);
}

}  // namespace
}  // namespace recursive_tf
