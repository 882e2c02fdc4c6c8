#include "recursive_tf/cc/tf/slices.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tests/cc/blocks/threads.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

absl::Status Make(tf::DataType dtype, const tf::TensorShape& shape,
                  tf::Tensor* made) {
  *made = tf::Tensor(dtype, shape);
  return absl::OkStatus();
}

TEST(SlicesTest, SlicesOfARowAreAddedUpInTheirOrder) {
  tf::Tensor values =
      TensorOf<float>({5, 2}, {1, 2, 10, 20, 100, 200, 3, 4, 1000, 2000});
  tf::Tensor indices = VectorOf<int64_t>({7, -1, 7, 5, 7});
  ASSERT_TRUE(AddUpSlices(Make, /*team=*/nullptr, &values, &indices).ok());
  EXPECT_EQ(ElementsOf<int64_t>(indices), (std::vector<int64_t>{7, -1, 5}));
  EXPECT_EQ(ElementsOf<float>(values), (Floats{1101, 2202, 10, 20, 3, 4}));
}

TEST(SlicesTest, RowsThatAreThereOnceStayAsTheyAre) {
  tf::Tensor values = OnesOf({2, 3});
  tf::Tensor indices = VectorOf<int32_t>({4, 2});
  const void* const data = values.data();
  ASSERT_TRUE(AddUpSlices(Make, /*team=*/nullptr, &values, &indices).ok());
  EXPECT_EQ(values.data(), data);
}

TEST(SlicesTest, ThreadsAddUpTheSame) {
  constexpr int64_t kSlices = 3000;
  constexpr int64_t kWidth = 17;
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < kSlices; ++i) {
    rows.push_back(static_cast<int32_t>(i * i % 101));
  }
  tf::Tensor expected = LargeAndSmallOf({kSlices, kWidth});
  tf::Tensor expected_rows = VectorOf<int32_t>(rows);
  ASSERT_TRUE(
      AddUpSlices(Make, /*team=*/nullptr, &expected, &expected_rows).ok());

  Threads threads;
  Team team(2, threads.schedule());
  tf::Tensor values = LargeAndSmallOf({kSlices, kWidth});
  tf::Tensor indices = VectorOf<int32_t>(rows);
  ASSERT_TRUE(AddUpSlices(Make, &team, &values, &indices).ok());
  EXPECT_EQ(ElementsOf<int32_t>(indices), ElementsOf<int32_t>(expected_rows));
  EXPECT_EQ(ElementsOf<float>(values), ElementsOf<float>(expected));
}

TEST(SlicesTest, IndicesOfOtherSlicesAreRefused) {
  tf::Tensor values = OnesOf({2, 3});
  tf::Tensor indices = VectorOf<int32_t>({4, 2, 1});
  EXPECT_TRUE(absl::IsInvalidArgument(
      AddUpSlices(Make, /*team=*/nullptr, &values, &indices)));
}

}  // namespace
}  // namespace recursive_tf
