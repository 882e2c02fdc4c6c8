#include "recursive_tf/cc/blocks/product_peak.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

TEST(ProductPeakTest, AProgramWithoutProductsDoesNone) {
  BlockProgram program;
  program.phases.emplace_back().code.emplace_back();
  // A sum of rows is no product.
  program.sums.push_back({0, 0, {}, {{Place(), 5}}});
  EXPECT_EQ(ProductFlops(program, 1).front(), 0);
}

TEST(ProductPeakTest, AProductMultipliesAndAddsEachNumberOfItsMatrix) {
  BlockProgram program;
  MatrixUse& use = program.matrices.emplace_back();
  use.depth = 7;
  use.num_segments = 5;
  use.segment_width = 3;
  program.phases.resize(2);
  program.phases[0].products.resize(1);
  EXPECT_EQ(ProductFlops(program, 1).front(), 2 * 7 * 15);
  // Each use of a matrix counts.
  program.phases[1].products.resize(2);
  EXPECT_EQ(ProductFlops(program, 1).front(), 3 * 2 * 7 * 15);
}

TEST(ProductPeakTest, ProductsOfTwoMatricesAndOuterSumsCount) {
  BlockProgram program;
  RowProductStep& step = program.phases.emplace_back().row_product.emplace();
  step.shape.num_rows = 2;
  step.shape.depth = 3;
  step.shape.num_columns = 4;
  EXPECT_EQ(ProductFlops(program, 1).front(), 2 * 2 * 3 * 4);
  program.sums.push_back({0, 0, {{Place(), 5}, {Place(), 1}}, {{Place(), 8}}});
  EXPECT_EQ(ProductFlops(program, 1).front(), 2 * 2 * 3 * 4 + 2 * 6 * 8);
}

TEST(ProductPeakTest, RowsOfEachAxisCountApart) {
  BlockProgram program;
  program.sums.push_back({0, 1, {{Place(), 5}}, {{Place(), 8}}});
  EXPECT_EQ(ProductFlops(program, 2), (std::vector<int64_t>{0, 2 * 5 * 8}));
}

TEST(ProductPeakTest, EachInstructionSetHasAPeak) {
  for (const InstructionSet set : InstructionSets()) {
    Threads threads;
    Team team(2, threads.schedule());
    // No processor takes a microsecond for one operation.
    EXPECT_GT(MeasureProductPeak(KernelsFor<float>(set), &team), 1e6);
    EXPECT_GT(MeasureProductPeak(KernelsFor<double>(set), &team), 1e6);
  }
}

}  // namespace
}  // namespace recursive_tf
