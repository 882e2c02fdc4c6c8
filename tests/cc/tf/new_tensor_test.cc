#include "recursive_tf/cc/tf/new_tensor.h"

#include <cstdint>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

TEST(NewTensorTest, ItHasTheSizes) {
  tf::Tensor made;
  ASSERT_TRUE(NewTensor(tf::DT_DOUBLE, {2, 3}, &made).ok());
  EXPECT_EQ(made.dtype(), tf::DT_DOUBLE);
  EXPECT_EQ(made.shape(), tf::TensorShape({2, 3}));
}

TEST(NewTensorTest, SizesThatAreTooLargeForATensorAreRefused) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  tf::Tensor made;
  EXPECT_TRUE(absl::IsInvalidArgument(
      NewTensor(tf::DT_FLOAT, {kLarge, kLarge}, &made)));
  EXPECT_TRUE(absl::IsInvalidArgument(NewTensor(tf::DT_FLOAT, {-2}, &made)));
}

TEST(NewTensorTest, WhereThereIsNoMemoryItSaysForWhat) {
  // More than there are addresses.
  constexpr int64_t kLarge = int64_t{1} << 55;
  tf::Tensor made;
  const absl::Status status = NewTensor(tf::DT_FLOAT, {1, kLarge}, &made);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(
      absl::StrContains(status.message(), "float of the shape [1,360287970"))
      << status;
}

TEST(NewTensorTest, OneThatIsTakenForGrantedIsThrownWithoutMemory) {
  constexpr int64_t kLarge = int64_t{1} << 55;
  EXPECT_THROW(NewTensorOrThrow(tf::DT_FLOAT, {kLarge}), std::bad_alloc);
  EXPECT_EQ(NewTensorOrThrow(tf::DT_FLOAT, {3}).NumElements(), 3);
}

TEST(NewTensorTest, NoElementsNeedNoMemory) {
  tf::Tensor made;
  EXPECT_TRUE(NewTensor(tf::DT_FLOAT, {0, 7}, &made).ok());
}

TEST(NewTensorTest, OtherSizesAreOfTheSameElements) {
  const tf::Tensor tensor = VectorOf<float>({1, 2, 3, 4, 5, 6});
  tf::Tensor same;
  ASSERT_TRUE(WithSizes(tensor, {2, 3}, &same).ok());
  EXPECT_EQ(same.shape(), tf::TensorShape({2, 3}));
  EXPECT_TRUE(same.SharesBufferWith(tensor));
}

TEST(NewTensorTest, SizesOfMoreElementsAreRefused) {
  const tf::Tensor tensor = VectorOf<float>({1, 2, 3, 4, 5, 6});
  tf::Tensor same;
  const absl::Status status = WithSizes(tensor, {2, 4}, &same);
  EXPECT_TRUE(absl::IsInternal(status));
  for (const char* said : {"[6]", "[2,4]", "blocks=\"tensorflow\""}) {
    EXPECT_TRUE(absl::StrContains(status.message(), said)) << status;
  }
}

}  // namespace
}  // namespace recursive_tf
