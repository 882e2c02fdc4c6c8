#include "recursive_tf/cc/blocks/row_sums.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "tests/cc/blocks/cells.h"
#include "tests/cc/blocks/check_case.h"

namespace recursive_tf {
namespace {

TEST(RowSumsTest, SumsOverRowsTakePieces) {
  Case given;
  given.input_widths = {13, 40, 3};
  BlockGraph& g = given.graph;
  const int32_t left = g.Concat({g.Input(0, 13), g.Input(2, 3)});
  const int32_t right = g.Input(1, 40);
  g.outputs = {g.Outer(left, right), g.ColumnSums(right)};
  CheckAll(given);
}

TEST(RowSumsTest, SumsOverNoRowsAreZeroAndManyRowsAreSummedPartByPart) {
  Case given{{}, {13, 40}, {}};
  BlockGraph& g = given.graph;
  const int32_t outer = g.Outer(g.Input(0, 13), g.Input(1, 40));
  const int32_t sum = g.ColumnSums(g.Input(1, 40));
  g.outputs = {outer, sum, g.AddSums({outer, outer}), g.AddSums({sum, sum})};
  CheckAll(given, {0, 257, 600});
}

TEST(RowSumsTest, ManyRowsAreSummedWhicheverSideIsWider) {
  for (const auto& widths : std::vector<std::vector<int64_t>>{
           {75, 33}, {33, 75}, {50, 5}, {5, 50}, {20, 20}}) {
    Case given{{}, widths, {}};
    BlockGraph& g = given.graph;
    g.outputs = {g.Outer(g.Input(0, widths[0]), g.Input(1, widths[1]))};
    // So many numbers add up that their roundings do.
    CheckAll(given, {1023, 1024, 1500}, 1e-4);
  }
}

TEST(RowSumsTest, OutputsThatAreOneSumHaveItEach) {
  Case given;
  given.input_widths = {7};
  BlockGraph& g = given.graph;
  const int32_t x = g.Input(0, 7);
  const int32_t sum = g.ColumnSums(x);
  const int32_t outer = g.Outer(x, x);
  g.outputs = {sum, outer, sum, outer};
  CheckAll(given);
}

}  // namespace
}  // namespace recursive_tf
