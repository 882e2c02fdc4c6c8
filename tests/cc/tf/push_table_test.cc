#include "recursive_tf/cc/tf/push_table.h"

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/tstring.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

constexpr int64_t kSize = 4;

// A table of floats, of which a row has `row_shape`.
class PushTableTest : public testing::Test {
 protected:
  absl::Status Push(int64_t index, const Floats& row) {
    return table_.Push(index, VectorOf(row));
  }

  Floats Result() {
    tf::Tensor result;
    const absl::Status status = table_.Result(&result);
    EXPECT_TRUE(status.ok()) << status;
    return ElementsOf<float>(result);
  }

  PushTable table_{"h", kSize, tf::DT_FLOAT, tf::PartialTensorShape({2})};
};

TEST_F(PushTableTest, AValueGoesToItsRow) {
  ASSERT_TRUE(Push(3, {1, 2}).ok());
  ASSERT_TRUE(Push(0, {3, 4}).ok());
  EXPECT_EQ(Result(), (Floats{3, 4, 0, 0, 0, 0, 1, 2}));
}

TEST_F(PushTableTest, WithoutPushesAllRowsAreZero) {
  EXPECT_EQ(Result(), Floats(8, 0));
}

TEST_F(PushTableTest, ARowIsPushedOnce) {
  ASSERT_TRUE(Push(1, {1, 2}).ok());
  const absl::Status status = Push(1, {1, 2});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(
      absl::StartsWith(status.message(), "push 'h' to row 1 happened twice."));
}

TEST_F(PushTableTest, ARowIsWithinTheTable) {
  for (const int64_t row : {int64_t{-1}, kSize}) {
    const absl::Status status = Push(row, {1, 2});
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << row;
    EXPECT_TRUE(absl::StrContains(status.message(), "is outside of [0, 4)"));
  }
}

TEST_F(PushTableTest, AllValuesHaveOneShape) {
  ASSERT_TRUE(Push(0, {1, 2}).ok());
  const absl::Status status = Push(1, {1, 2, 3});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(
      status.message(),
      "a value of shape [3], but another invocation pushed [2]"));
}

TEST_F(PushTableTest, AValueHasTheDtypeOfTheTable) {
  EXPECT_EQ(table_.Push(0, VectorOf<int>({1, 2})).code(),
            absl::StatusCode::kInternal);
}

TEST_F(PushTableTest, ClaimedRowsAreWrittenInTheTable) {
  ASSERT_TRUE(table_.Claim(3).ok());
  tf::Tensor rows;
  ASSERT_TRUE(table_.TableOf(OnesOf({7, 2}), &rows).ok());
  rows.matrix<float>()(3, 1) = 5;
  rows.matrix<float>()(3, 0) = 4;
  EXPECT_EQ(Result(), (Floats{0, 0, 0, 0, 0, 0, 4, 5}));
}

TEST_F(PushTableTest, ATableOfOtherRowsIsRefused) {
  ASSERT_TRUE(Push(0, {1, 2}).ok());
  tf::Tensor rows;
  EXPECT_EQ(table_.TableOf(OnesOf({1, 3}), &rows).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(table_.TableOf(VectorOf<double>({1}), &rows).code(),
            absl::StatusCode::kInternal);
}

TEST_F(PushTableTest, ThreadsPushAtTheSameTime) {
  std::vector<std::thread> threads;
  threads.reserve(kSize);
  for (int i = 0; i < kSize; ++i) {
    threads.emplace_back([this, i] {
      const auto number = static_cast<float>(i);
      EXPECT_TRUE(Push(i, {number, number}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Result(), (Floats{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(PushTablesTest, TheFirstPushTellsAShapeThatIsNotKnown) {
  PushTable table("h", 2, tf::DT_FLOAT, tf::PartialTensorShape({-1}));
  ASSERT_TRUE(table.Push(1, VectorOf<float>({5, 6, 7})).ok());
  tf::Tensor result;
  ASSERT_TRUE(table.Result(&result).ok());
  EXPECT_EQ(result.shape(), tf::TensorShape({2, 3}));
  EXPECT_EQ(ElementsOf<float>(result), (Floats{0, 0, 0, 5, 6, 7}));
}

TEST(PushTablesTest, AShapeThatNobodyTellsIsAnError) {
  PushTable table("h", 2, tf::DT_FLOAT, tf::PartialTensorShape({-1}));
  tf::Tensor result;
  const absl::Status status = table.Result(&result);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(status.message(),
                               "no invocation pushed 'h', and its shape [?]"));
}

TEST(PushTablesTest, StringsThatNobodyPushesAreEmpty) {
  PushTable table("h", 2, tf::DT_STRING, tf::PartialTensorShape({}));
  tf::Tensor word(tf::DT_STRING, {});
  word.scalar<tf::tstring>()() = "word";
  ASSERT_TRUE(table.Push(1, word).ok());
  tf::Tensor result;
  ASSERT_TRUE(table.Result(&result).ok());
  EXPECT_EQ(ElementsOf<tf::tstring>(result),
            (std::vector<tf::tstring>{"", "word"}));
}

TEST(PushTablesTest, RowsWithoutElementsArePushed) {
  PushTable table("h", 2, tf::DT_FLOAT, tf::PartialTensorShape({0}));
  ASSERT_TRUE(table.Push(1, OnesOf({0})).ok());
  tf::Tensor result;
  ASSERT_TRUE(table.Result(&result).ok());
  EXPECT_EQ(result.shape(), tf::TensorShape({2, 0}));
}

TEST(PushTablesTest, ATableLargerThanMemoryIsRefused) {
  const PushTable table("h", int64_t{1'000'000'000'000'000'000}, tf::DT_FLOAT,
                        tf::PartialTensorShape({}));
  EXPECT_EQ(table.CheckMemory().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace recursive_tf
