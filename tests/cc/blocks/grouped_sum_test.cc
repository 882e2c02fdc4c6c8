#include "recursive_tf/cc/blocks/grouped_sum.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "tests/cc/blocks/num_spared.h"
#include "tests/cc/blocks/random_rows.h"

namespace recursive_tf {
namespace {

// The gradient of a product of two children's rows: the sum of their outer
// products with rows of two parts, and the sum of these.
struct Children {
  int64_t num_rows = 300;
  // How many different rows there are of each child.
  int64_t num_left = 40;
  int64_t num_right = 290;
  // How many rows of each child are said to be shared.
  int64_t num_shared = 300;
  // Of the left child and of the first part.
  int64_t left_width = 130;
  int64_t first_width = 67;
  // Whether the sum is added to another one.
  bool adds = false;
};

constexpr int64_t kRightWidth = 7;
constexpr int64_t kSecondWidth = 5;

BlockGraph GraphOf(const Children& given) {
  BlockGraph g;
  const int32_t children =
      g.Concat({g.Input(0, given.left_width), g.Input(1, kRightWidth)});
  const int32_t gradient =
      g.Concat({g.Input(2, given.first_width), g.Input(3, kSecondWidth)});
  const int32_t outer = g.Outer(children, gradient);
  g.outputs = {given.adds ? g.AddSums({outer, outer}) : outer,
               g.ColumnSums(gradient)};
  return g;
}

template <typename T>
SparingRun<T> RunSums(const Children& given, const Kernels<T>& kernels,
                      int num_threads) {
  std::mt19937 random(5);
  const std::vector<int64_t> widths = {given.left_width, kRightWidth,
                                       given.first_width, kSecondWidth};
  const std::vector<int64_t> counts = {given.num_left, given.num_right,
                                       given.num_rows, given.num_rows};
  std::vector<std::vector<T>> numbers;
  std::vector<std::vector<T*>> addresses(widths.size());
  BlockRows<T> rows;
  rows.num_rows = {given.num_rows};
  for (size_t i = 0; i < widths.size(); ++i) {
    numbers.push_back(Cast<T>(RandomNumbers(widths[i] * counts[i], &random)));
    for (int64_t row = 0; row < given.num_rows; ++row) {
      addresses[i].push_back(numbers[i].data() +
                             7 * row % counts[i] * widths[i]);
    }
  }
  for (const std::vector<T*>& each : addresses) {
    rows.inputs.push_back({nullptr, 0, each.data()});
  }
  rows.num_shared = {given.num_shared, given.num_shared, 0, 0};
  const int64_t num_columns = given.first_width + kSecondWidth;
  std::vector<std::vector<T>> sums = {
      std::vector<T>((given.left_width + kRightWidth) * num_columns),
      std::vector<T>(num_columns)};
  for (std::vector<T>& each : sums) rows.sums.push_back(each.data());
  SparingRun<T> run =
      RunSparing(GraphOf(given), kernels, num_threads, Matrices::kPacked,
                 std::vector<T>(), std::move(rows));
  run.outputs = std::move(sums);
  return run;
}

int64_t NumSpared(const Children& given) {
  const auto run = [](const Children& each, const auto& kernels, int threads) {
    return RunSums(each, kernels, threads);
  };
  const auto of_floats = NumSparedAs<float>(given, run, 2e-4);
  EXPECT_EQ(NumSparedAs<double>(given, run, 1e-11), of_floats);
  return of_floats;
}

TEST(GroupedSumTest, RowsThatBelongToOneAreAddedUpFirst) {
  // The right child is too narrow.
  EXPECT_EQ(NumSpared({}), 260 * 130 * 72);
}

TEST(GroupedSumTest, SumsAreAddedToOthers) {
  Children given;
  given.adds = true;
  EXPECT_EQ(NumSpared(given), 2 * 260 * 130 * 72);
}

TEST(GroupedSumTest, ManyRowsAreGroupedWhicheverSideIsWider) {
  for (const int64_t left_width : {130, 70}) {
    Children given;
    given.num_rows = 1500;
    given.num_shared = 1500;
    given.left_width = left_width;
    given.first_width = 190 - left_width;
    EXPECT_EQ(NumSpared(given), 1460 * left_width * (195 - left_width));
  }
}

TEST(GroupedSumTest, ManyDifferentRowsAreTakenOneByOne) {
  Children given;
  given.num_left = 271;
  EXPECT_EQ(NumSpared(given), 0);
  given.num_left = 269;
  EXPECT_EQ(NumSpared(given), 31 * 130 * 72);
}

TEST(GroupedSumTest, RowsAreNotComparedIfFewAreShared) {
  Children given;
  given.num_shared = 29;
  EXPECT_EQ(NumSpared(given), 0);
  given.num_shared = 30;
  EXPECT_EQ(NumSpared(given), 260 * 130 * 72);
}

TEST(GroupedSumTest, FewRowsAreTakenOneByOne) {
  Children given;
  given.num_rows = 127;
  given.num_shared = 127;
  EXPECT_EQ(NumSpared(given), 0);
  given.num_rows = 128;
  EXPECT_EQ(NumSpared(given), 88 * 130 * 72);
}

}  // namespace
}  // namespace recursive_tf
