#include "recursive_tf/cc/tf/row_batch.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/testing/rows_of.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/tstring.h"
#include "tests/cc/blocks/threads.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

RowBatch Collected(RowValues* values, const JoinedRows& rows,
                   bool holds = true) {
  RowBatch batch;
  const absl::Status status = values->Collect(rows, holds, &batch);
  EXPECT_TRUE(status.ok()) << status;
  return batch;
}

RowBatch Joined(std::vector<RowBatch> batches) {
  RowBatch joined;
  const absl::Status status = JoinBatches(std::move(batches), &joined);
  EXPECT_TRUE(status.ok()) << status;
  return joined;
}

// Two values of four rows, of two elements and of one.
RowValues TwoValues() {
  RowValues values;
  values.Add(TensorOf<float>({4, 2}, {0, 1, 10, 11, 20, 21, 30, 31}));
  values.Add(TensorOf<float>({4, 1}, {5, 15, 25, 35}));
  return values;
}

TEST(RowBatchTest, ATensorIsABatchOfItsRows) {
  const tf::Tensor rows = OnesOf({3, 2});
  const RowBatch batch(rows);
  EXPECT_EQ(batch.scattered(), nullptr);
  EXPECT_EQ(batch.dtype(), tf::DT_FLOAT);
  EXPECT_EQ(batch.shape(), rows.shape());
  EXPECT_EQ(batch.TotalBytes(), 24);
  EXPECT_EQ(batch.AsTensor().data(), rows.data());
}

TEST(RowBatchTest, RowsStayWhereTheyStand) {
  RowValues values = TwoValues();
  const RowBatch batch = Collected(&values, {RowsOf({{0, 2}, {0, 0}, {0, 0}})});
  ASSERT_NE(batch.scattered(), nullptr);
  ASSERT_EQ(batch.scattered()->parts.size(), 1);
  auto* const first = static_cast<float*>(values[0].data());
  EXPECT_EQ(batch.scattered()->parts[0].rows,
            (std::vector<void*>{first + 4, first, first}));
  EXPECT_EQ(values.bytes_moved(), 0);
  EXPECT_EQ(ElementsOf<float>(batch.AsTensor()), (Floats{20, 21, 0, 1, 0, 1}));
}

TEST(RowBatchTest, RowsSideBySideAreATensor) {
  RowValues values = TwoValues();
  const RowBatch batch =
      Collected(&values, {RowsOf({{0, 0}, {0, 1}, {0, 2}, {0, 3}})});
  EXPECT_EQ(batch.scattered(), nullptr);
  EXPECT_EQ(batch.AsTensor().data(), values[0].data());
}

TEST(RowBatchTest, JoinedRowsHavePartsFromTheLeft) {
  RowValues values = TwoValues();
  const RowBatch batch =
      Collected(&values, {RowsOf({{0, 3}, {0, 1}}), RowsOf({{1, 0}, {1, 2}})});
  ASSERT_NE(batch.scattered(), nullptr);
  ASSERT_EQ(batch.scattered()->parts.size(), 2);
  EXPECT_EQ(batch.scattered()->parts[0].width, 2);
  EXPECT_EQ(batch.scattered()->parts[1].width, 1);
  EXPECT_EQ(batch.shape(), tf::TensorShape({2, 3}));
  EXPECT_EQ(ElementsOf<float>(batch.AsTensor()),
            (Floats{30, 31, 5, 10, 11, 25}));
}

TEST(RowBatchTest, RowsThatAreHeldOutliveTheirValue) {
  RowValues values = TwoValues();
  const RowBatch batch = Collected(&values, {RowsOf({{0, 3}, {0, 0}})});
  const tf::Tensor held = values[0];
  values.Drop(0);
  EXPECT_FALSE(held.RefCountIsOne());
  EXPECT_EQ(ElementsOf<float>(batch.AsTensor()), (Floats{30, 31, 0, 1}));
}

TEST(RowBatchTest, RowsThatAreNotHeldKeepNothing) {
  RowValues values = TwoValues();
  const RowBatch batch =
      Collected(&values, {RowsOf({{0, 3}, {0, 0}})}, /*holds=*/false);
  EXPECT_TRUE(values[0].RefCountIsOne());
}

TEST(RowBatchTest, ThreadsGatherTheSame) {
  constexpr int32_t kRows = 1001;
  constexpr int64_t kWidth = 37;
  RowValues values;
  values.Add(CountOf({kRows, kWidth}));
  values.Add(TensorOf<float>({kRows, 1}, Floats(kRows, 0.5F)));
  Rows back;
  Rows forth;
  for (int32_t i = 0; i < kRows; ++i) {
    back.Add({0, kRows - 1 - i});
    forth.Add({1, i});
  }
  const RowBatch batch = Collected(&values, {back, forth});
  ASSERT_NE(batch.scattered(), nullptr);
  Threads threads;
  Team team(2, threads.schedule());
  EXPECT_EQ(ElementsOf<float>(batch.AsTensor(&team)),
            ElementsOf<float>(batch.AsTensor()));
}

TEST(RowBatchTest, OtherDtypesAreGathered) {
  RowValues values;
  values.Add(VectorOf<int32_t>({7, 8, 9}));
  values.Add(VectorOf<tf::tstring>({"a", "b"}));
  const RowBatch numbers = Collected(&values, {RowsOf({{0, 2}, {0, 0}})});
  EXPECT_EQ(numbers.scattered(), nullptr);
  EXPECT_EQ(ElementsOf<int32_t>(numbers.AsTensor()),
            (std::vector<int32_t>{9, 7}));
  const RowBatch strings = Collected(&values, {RowsOf({{1, 1}, {1, 0}})});
  EXPECT_EQ(ElementsOf<tf::tstring>(strings.AsTensor()),
            (std::vector<tf::tstring>{"b", "a"}));
}

TEST(RowBatchTest, RowsOfOtherWidthsAreRefused) {
  RowValues values = TwoValues();
  RowBatch batch;
  EXPECT_FALSE(
      values.Collect({RowsOf({{0, 1}, {1, 0}})}, /*holds=*/true, &batch).ok());
}

TEST(JoinBatchesTest, OneIsItself) {
  const tf::Tensor rows = OnesOf({2, 2});
  EXPECT_EQ(Joined({RowBatch(rows)}).AsTensor().data(), rows.data());
}

TEST(JoinBatchesTest, TensorsAndScatteredRowsStayWhereTheyStand) {
  RowValues values = TwoValues();
  const RowBatch joined =
      Joined({Collected(&values, {RowsOf({{0, 3}, {0, 1}})}),
              RowBatch(TensorOf<float>({1, 2}, {8, 9}))});
  ASSERT_NE(joined.scattered(), nullptr);
  EXPECT_EQ(joined.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(joined.scattered()->parts[0].rows[1],
            static_cast<float*>(values[0].data()) + 2);
  EXPECT_EQ(ElementsOf<float>(joined.AsTensor()),
            (Floats{30, 31, 10, 11, 8, 9}));
}

// A tensor has one part.
TEST(JoinBatchesTest, RowsThatMayComeSeveralTimesAreCounted) {
  RowValues values;
  values.Add(OnesOf({4, 2}), /*are_shared=*/true);
  values.Add(OnesOf({4, 2}));
  const auto collected = [&](const Rows& rows) {
    return Collected(&values, {rows});
  };
  const RowBatch joined =
      Joined({collected(RowsOf({{0, 3}, {0, 1}})), RowBatch(OnesOf({3, 2})),
              collected(RowsOf({{1, 3}, {0, 2}}))});
  EXPECT_EQ(joined.scattered()->parts.front().num_shared, 3);
}

TEST(JoinBatchesTest, BatchesOfOtherPartsBecomeATensor) {
  RowValues values = TwoValues();
  const RowBatch joined =
      Joined({Collected(&values, {RowsOf({{0, 1}}), RowsOf({{1, 1}})}),
              RowBatch(TensorOf<float>({1, 3}, {1, 2, 3}))});
  EXPECT_EQ(joined.scattered(), nullptr);
  EXPECT_EQ(ElementsOf<float>(joined.AsTensor()),
            (Floats{10, 11, 15, 1, 2, 3}));
}

TEST(JoinBatchesTest, OtherDtypesAndNoRowsBecomeATensor) {
  const RowBatch numbers = Joined(
      {RowBatch(VectorOf<int32_t>({1, 2})), RowBatch(VectorOf<int32_t>({3}))});
  EXPECT_EQ(ElementsOf<int32_t>(numbers.AsTensor()),
            (std::vector<int32_t>{1, 2, 3}));
  const RowBatch rows =
      Joined({RowBatch(TensorOf<float>({0, 2}, {})), RowBatch(OnesOf({1, 2}))});
  EXPECT_EQ(ElementsOf<float>(rows.AsTensor()), (Floats{1, 1}));
}

TEST(JoinBatchesTest, RowsOfAnotherShapeAreRefused) {
  RowBatch joined;
  EXPECT_FALSE(
      JoinBatches({RowBatch(OnesOf({1, 2})), RowBatch(OnesOf({1, 3}))}, &joined)
          .ok());
}

}  // namespace
}  // namespace recursive_tf
