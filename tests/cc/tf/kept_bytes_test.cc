#include "recursive_tf/cc/tf/kept_bytes.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/kernels/tensor_list.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// 4 kB.
tf::Tensor Large() { return OnesOf({1024}); }

tf::Tensor ListOf(std::vector<tf::Tensor> items) {
  tf::TensorList list;
  list.tensors() = std::move(items);
  tf::Tensor tensor(tf::DT_VARIANT, {});
  tensor.scalar<tf::Variant>()() = std::move(list);
  return tensor;
}

class KeptBytesTest : public testing::Test {
 protected:
  // Returns what `values` are counted for more than none.
  int64_t BytesOf(const std::vector<tf::Tensor>& values) {
    return kept_.Add(values) - kept_.Add({});
  }

  KeptBytes kept_;
};

TEST_F(KeptBytesTest, ASmallTensorCountsWheneverItIsKept) {
  const tf::Tensor small = OnesOf({4});
  const int64_t bytes = BytesOf({small});
  EXPECT_GT(bytes, 16);
  EXPECT_EQ(BytesOf({small}), bytes);
  EXPECT_EQ(BytesOf({small, small}), 2 * bytes);
}

TEST_F(KeptBytesTest, ALargeBufferCountsOnce) {
  const tf::Tensor large = Large();
  EXPECT_GT(BytesOf({large}), 4096);
  EXPECT_EQ(BytesOf({large}), 0);
}

TEST_F(KeptBytesTest, AnotherLargeBufferCountsToo) {
  const tf::Tensor a = Large();
  const tf::Tensor b = Large();
  EXPECT_GT(BytesOf({a}), 4096);
  EXPECT_GT(BytesOf({b}), 4096);
}

TEST_F(KeptBytesTest, TheItemsOfAListCountOnce) {
  const tf::Tensor list = ListOf({Large(), Large()});
  const int64_t bytes = BytesOf({list});
  EXPECT_GT(bytes, 2 * 4096);
  EXPECT_LT(BytesOf({list}), 1000);
}

TEST_F(KeptBytesTest, AnItemOfTwoListsCountsHalfInEach) {
  const tf::Tensor empty = ListOf({});
  const tf::Tensor own = ListOf({OnesOf({128})});
  const tf::Tensor item = OnesOf({128});
  const tf::Tensor one = ListOf({item});
  const tf::Tensor other = ListOf({item});
  const int64_t of_list = BytesOf({empty});
  const int64_t of_item = BytesOf({own}) - of_list;
  EXPECT_EQ(2 * (BytesOf({one}) - of_list), of_item);
  EXPECT_EQ(2 * (BytesOf({other}) - of_list), of_item);
}

TEST_F(KeptBytesTest, AVariantThatIsNoListIsSmall) {
  tf::Tensor tensor(tf::DT_VARIANT, {});
  tensor.scalar<tf::Variant>()() = 42;
  EXPECT_LT(BytesOf({tensor}), 1000);
}

}  // namespace
}  // namespace recursive_tf
