#include "recursive_tf/cc/tf/gradient_rows.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/adjoints.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/testing/rows_of.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

// The gradients of three values: of three rows, and twice of two.
class GradientRowsTest : public testing::Test {
 protected:
  GradientRowsTest() {
    record_.values = {{tf::DT_FLOAT, tf::TensorShape({3, 2})},
                      {tf::DT_FLOAT, tf::TensorShape({2})},
                      {tf::DT_INT32, tf::TensorShape({2})}};
    for (const Kind& kind : record_.values) {
      num_rows_.push_back(static_cast<int32_t>(kind.shape.dim_size(0)));
    }
    rows_.emplace(&record_, &team_);
    for (const int32_t value : {0, 1, 2}) rows_->LetStand(value);
    adjoints_.emplace(&num_rows_, &*rows_);
  }

  Team team_{1, [](const std::function<void()>& /*run*/) {}};
  BatchedRecord record_;
  std::vector<int32_t> num_rows_;
  std::optional<GradientRows> rows_;
  std::optional<Adjoints<tf::Tensor, GradientRows>> adjoints_;
};

TEST_F(GradientRowsTest, RowsStandInPartsOfOthers) {
  // The second row and the first, each with a number of another value before.
  const tf::Tensor gradient = TensorOf<float>({2, 3}, {0, 1, 2, 0, 10, 20});
  adjoints_->Add({RowsOf({{1, 0}, {1, 1}}), RowsOf({{0, 1}, {0, 0}})},
                 gradient);
  const std::optional<RowBatch> taken = adjoints_->Take(0);
  ASSERT_TRUE(taken.has_value());
  ASSERT_NE(taken->scattered(), nullptr);
  auto* const first = static_cast<float*>(gradient.data());
  EXPECT_EQ(taken->scattered()->parts[0].rows[0], first + 4);
  EXPECT_EQ(taken->scattered()->parts[0].rows[1], first + 1);
  EXPECT_EQ(taken->shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(ElementsOf<float>(taken->AsTensor()), (Floats{10, 20, 1, 2, 0, 0}));
}

TEST_F(GradientRowsTest, RowsThatStandOutliveTheirGradient) {
  adjoints_->Add(RowsOf({{0, 2}, {0, 0}}),
                 TensorOf<float>({2, 2}, {1, 2, 3, 4}));
  const std::optional<RowBatch> taken = adjoints_->Take(0);
  adjoints_.reset();
  EXPECT_EQ(ElementsOf<float>(taken->AsTensor()), (Floats{3, 4, 0, 0, 1, 2}));
  EXPECT_EQ(rows_->bytes_moved(), 0);
}

TEST_F(GradientRowsTest, SecondContributionsAreAddedToATensor) {
  const tf::Tensor once = TensorOf<float>({2, 2}, {1, 2, 3, 4});
  adjoints_->Add(RowsOf({{0, 2}, {0, 0}}), once);
  adjoints_->Add(RowsOf({{0, 0}}), TensorOf<float>({1, 2}, {10, 20}));
  const std::optional<RowBatch> taken = adjoints_->Take(0);
  EXPECT_EQ(taken->scattered(), nullptr);
  EXPECT_EQ(ElementsOf<float>(taken->AsTensor()), (Floats{13, 24, 0, 0, 1, 2}));
  EXPECT_EQ(ElementsOf<float>(once), (Floats{1, 2, 3, 4}));
  // Two rows, and the one that was added.
  EXPECT_EQ(rows_->bytes_moved(), 24);
}

TEST_F(GradientRowsTest, OtherDtypesHaveATensor) {
  adjoints_->Add(RowsOf({{2, 1}}), VectorOf<int32_t>({7}));
  const std::optional<RowBatch> taken = adjoints_->Take(2);
  EXPECT_EQ(taken->scattered(), nullptr);
  EXPECT_EQ(ElementsOf<int32_t>(taken->AsTensor()),
            (std::vector<int32_t>{0, 7}));
}

}  // namespace
}  // namespace recursive_tf
