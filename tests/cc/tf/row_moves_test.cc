#include "recursive_tf/cc/tf/row_moves.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tests/cc/blocks/threads.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

// Of a team with two threads.
class RowMovesTest : public testing::Test {
 protected:
  Threads threads_;
  Team team_{2, threads_.schedule()};
  RowMoves moves_{&team_};
};

TEST_F(RowMovesTest, PartsOfRowsAreCopiedAndAdded) {
  const tf::Tensor from = TensorOf<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const tf::Tensor to = TensorOf<float>({2, 1}, {0, 0});
  moves_.Copy(RowView(from).At(1, 1), RowView(to), 1);
  moves_.Add(RowView(from).At(2), RowView(to), 1);
  moves_.Finish();
  EXPECT_EQ(ElementsOf<float>(to), (Floats{0, 9}));
}

TEST_F(RowMovesTest, RowsOfOtherSizesMayFollow) {
  const tf::Tensor wide = TensorOf<float>({1, 2}, {1, 2});
  const tf::Tensor to_wide = TensorOf<float>({1, 2}, {0, 0});
  const tf::Tensor numbers = TensorOf<int32_t>({2}, {7, 8});
  const tf::Tensor to_numbers = TensorOf<int32_t>({2}, {0, 1});
  moves_.Copy(RowView(wide).At(0), RowView(to_wide), 0);
  moves_.Add(RowView(numbers).At(1), RowView(to_numbers), 1);
  moves_.Finish();
  EXPECT_EQ(ElementsOf<float>(to_wide), (Floats{1, 2}));
  EXPECT_EQ(ElementsOf<int32_t>(to_numbers), (std::vector<int32_t>{0, 9}));
}

TEST_F(RowMovesTest, ThreadsAddWhatGoesToOneRowInItsOrder) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kWidth = 37;
  const tf::Tensor from = LargeAndSmallOf({kRows, kWidth});
  const Floats numbers = ElementsOf<float>(from);
  const tf::Tensor to = TensorOf<float>({5, kWidth}, Floats(5 * kWidth, 0.25F));
  Floats expected(5 * kWidth, 0.25F);
  for (int64_t row = 0; row < kRows; ++row) {
    const bool is_copied = row % 400 == 399;
    for (int64_t k = 0; k < kWidth; ++k) {
      float& sum = expected[row % 5 * kWidth + k];
      sum = (is_copied ? 0 : sum) + numbers[row * kWidth + k];
    }
    if (is_copied) {
      moves_.Copy(RowView(from).At(row), RowView(to), row % 5);
    } else {
      moves_.Add(RowView(from).At(row), RowView(to), row % 5);
    }
  }
  moves_.Finish();
  EXPECT_EQ(ElementsOf<float>(to), expected);
}

TEST_F(RowMovesTest, ThreadsCopyAllRowsWhereNothingIsAdded) {
  constexpr int64_t kRows = 1001;
  constexpr int64_t kWidth = 37;
  const tf::Tensor from = CountOf({kRows, kWidth});
  const Floats numbers = ElementsOf<float>(from);
  const tf::Tensor to =
      TensorOf<float>({kRows, kWidth}, Floats(kRows * kWidth, -1));
  for (int64_t row = 0; row < kRows; ++row) {
    moves_.Copy(RowView(from).At(kRows - 1 - row), RowView(to), row);
  }
  moves_.Finish();
  const Floats found = ElementsOf<float>(to);
  for (int64_t i = 0; i < kRows * kWidth; ++i) {
    const int64_t row = kRows - 1 - i / kWidth;
    ASSERT_EQ(found[i], numbers[row * kWidth + i % kWidth]);
  }
  // What is added after that is added.
  moves_.Add(RowView(from).At(0), RowView(to), 0);
  moves_.Finish();
  EXPECT_EQ(ElementsOf<float>(to)[0], numbers[(kRows - 1) * kWidth]);
}

TEST_F(RowMovesTest, RowsWithoutElementsAndNoRowsAreNoMove) {
  const tf::Tensor none = TensorOf<float>({2, 0}, {});
  moves_.Copy(RowView(none).At(0), RowView(none), 1);
  moves_.Finish();
  moves_.Finish();
}

}  // namespace
}  // namespace recursive_tf
