#include "recursive_tf/cc/tf/row_values.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/testing/rows_of.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/tstring.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Floats = std::vector<float>;

RowValues ValuesOf(std::vector<tf::Tensor> all) {
  RowValues values;
  for (tf::Tensor& value : all) values.Add(std::move(value));
  return values;
}

template <typename SomeRows>
tf::Tensor Gathered(RowValues* values, const SomeRows& rows) {
  tf::Tensor gathered;
  const absl::Status status = values->Gather(rows, &gathered);
  EXPECT_TRUE(status.ok()) << status;
  return gathered;
}

template <typename SomeRows>
absl::Status Refused(RowValues values, const SomeRows& rows) {
  tf::Tensor gathered;
  return values.Gather(rows, &gathered);
}

// Six rows of two elements: row `i` holds 10 `i` and 10 `i` + 1.
tf::Tensor SixRows() {
  return TensorOf<float>({6, 2},
                         {0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51});
}

TEST(RowValuesTest, WhatIsBorrowedIsNotCounted) {
  RowValues values = ValuesOf({VectorOf<float>({1, 2, 3})});
  const int64_t before = values.bytes_alive();
  values.AddBorrowed(SixRows());
  EXPECT_EQ(values.size(), 2);
  EXPECT_EQ(values.bytes_alive(), before);
  const tf::Tensor found = Gathered(&values, RowsOf({{1, 4}, {1, 1}}));
  EXPECT_EQ(ElementsOf<float>(found), (Floats{40, 41, 10, 11}));
}

TEST(RowValuesTest, AllRowsInOrderAreTheValueItself) {
  RowValues values = ValuesOf({VectorOf<float>({1, 2, 3})});
  const tf::Tensor gathered =
      Gathered(&values, RowsOf({{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_EQ(gathered.data(), values[0].data());
  EXPECT_EQ(values.bytes_moved(), 0);
}

TEST(RowValuesTest, RowsInOrderAreNotCopiedWhereKernelsMayReadThem) {
  RowValues values = ValuesOf({OnesOf({4, 16})});
  const tf::Tensor gathered = Gathered(&values, RowsOf({{0, 1}, {0, 2}}));
  EXPECT_EQ(gathered.shape(), tf::TensorShape({2, 16}));
  EXPECT_EQ(gathered.data(), values[0].SubSlice(1).data());
  EXPECT_EQ(values.bytes_moved(), 0);
}

TEST(RowValuesTest, RowsInOrderAreCopiedWhereKernelsMayNotReadThem) {
  RowValues values = ValuesOf({SixRows()});
  const tf::Tensor gathered = Gathered(&values, RowsOf({{0, 1}, {0, 2}}));
  EXPECT_TRUE(gathered.IsAligned());
  EXPECT_EQ(ElementsOf<float>(gathered), (Floats{10, 11, 20, 21}));
  EXPECT_EQ(values.bytes_moved(), 16);
}

TEST(RowValuesTest, SingleRowsComeInTheirOrder) {
  RowValues values = ValuesOf({SixRows()});
  const tf::Tensor gathered =
      Gathered(&values, RowsOf({{0, 4}, {0, 2}, {0, 0}}));
  EXPECT_EQ(gathered.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(ElementsOf<float>(gathered), (Floats{40, 41, 20, 21, 0, 1}));
}

TEST(RowValuesTest, OneRowComesAgainAndAgain) {
  RowValues values = ValuesOf({SixRows()});
  const tf::Tensor gathered =
      Gathered(&values, RowsOf({{0, 3}, {0, 3}, {0, 3}}));
  EXPECT_EQ(ElementsOf<float>(gathered), (Floats{30, 31, 30, 31, 30, 31}));
}

TEST(RowValuesTest, RunsOfSeveralValuesComeOneAfterTheOther) {
  RowValues values =
      ValuesOf({SixRows(), TensorOf<float>({2, 2}, {-1, -2, -3, -4})});
  const Rows rows =
      RowsOf({{0, 2}, {0, 3}, {0, 4}, {1, 1}, {1, 1}, {0, 5}, {1, 0}, {1, 1}});
  ASSERT_EQ(rows.runs().size(), 4);
  EXPECT_EQ(
      ElementsOf<float>(Gathered(&values, rows)),
      (Floats{20, 21, 30, 31, 40, 41, -3, -4, -3, -4, 50, 51, -1, -2, -3, -4}));
}

TEST(RowValuesTest, StringsAreGathered) {
  RowValues values = ValuesOf({VectorOf<tf::tstring>({"a", "b", "c"})});
  const tf::Tensor gathered =
      Gathered(&values, RowsOf({{0, 2}, {0, 0}, {0, 1}, {0, 1}}));
  EXPECT_EQ(ElementsOf<tf::tstring>(gathered),
            (std::vector<tf::tstring>{"c", "a", "b", "b"}));
}

TEST(RowValuesTest, RowsOfOtherDtypesAreNoBatch) {
  RowValues values = ValuesOf({VectorOf<float>({1}), VectorOf<int>({1})});
  const absl::Status status =
      Refused(std::move(values), RowsOf({{0, 0}, {1, 0}}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
}

TEST(RowValuesTest, RowsOfOtherShapesAreNoBatch) {
  RowValues values = ValuesOf({OnesOf({1, 2}), OnesOf({1, 3})});
  EXPECT_EQ(Refused(std::move(values), RowsOf({{0, 0}, {1, 0}})).message(),
            "rows of the shapes [1,2] and [1,3] were to be one batch");
}

TEST(RowValuesTest, OnePartIsNotJoined) {
  RowValues values = ValuesOf({SixRows()});
  const JoinedRows joined = {RowsOf({{0, 4}, {0, 2}})};
  EXPECT_EQ(ElementsOf<float>(Gathered(&values, joined)),
            (Floats{40, 41, 20, 21}));
}

TEST(RowValuesTest, JoinedRowsStandSideBySide) {
  RowValues values = ValuesOf({SixRows(), TensorOf<float>({2, 1}, {-1, -2})});
  const JoinedRows joined = {RowsOf({{0, 4}, {0, 2}}),
                             RowsOf({{1, 1}, {1, 0}})};
  const tf::Tensor gathered = Gathered(&values, joined);
  EXPECT_EQ(gathered.shape(), tf::TensorShape({2, 3}));
  EXPECT_EQ(ElementsOf<float>(gathered), (Floats{40, 41, -2, 20, 21, -1}));
  EXPECT_EQ(values.bytes_moved(), 24);
}

TEST(RowValuesTest, EachRowOfARunIsJoined) {
  RowValues values = ValuesOf({SixRows()});
  const JoinedRows joined = {RowsOf({{0, 1}, {0, 2}, {0, 3}}),
                             RowsOf({{0, 3}, {0, 4}, {0, 5}})};
  ASSERT_EQ(joined[0].runs().size(), 1);
  EXPECT_EQ(ElementsOf<float>(Gathered(&values, joined)),
            (Floats{10, 11, 30, 31, 20, 21, 40, 41, 30, 31, 50, 51}));
}

TEST(RowValuesTest, OneRowIsJoinedAgainAndAgain) {
  RowValues values = ValuesOf({SixRows()});
  const JoinedRows joined = {RowsOf({{0, 1}, {0, 2}, {0, 5}}),
                             RowsOf({{0, 4}, {0, 4}, {0, 4}})};
  ASSERT_EQ(joined[1].runs().front().stride, 0);
  EXPECT_EQ(ElementsOf<float>(Gathered(&values, joined)),
            (Floats{10, 11, 40, 41, 20, 21, 40, 41, 50, 51, 40, 41}));
}

TEST(RowValuesTest, MatricesAreJoinedAlongTheirFirstDimension) {
  RowValues values =
      ValuesOf({TensorOf<int>({2, 1, 2}, {1, 2, 3, 4}),
                TensorOf<int>({2, 2, 2}, {10, 20, 30, 40, 50, 60, 70, 80})});
  const JoinedRows joined = {RowsOf({{0, 1}, {0, 0}}),
                             RowsOf({{1, 0}, {1, 1}})};
  const tf::Tensor gathered = Gathered(&values, joined);
  EXPECT_EQ(gathered.shape(), tf::TensorShape({2, 3, 2}));
  EXPECT_EQ(ElementsOf<int>(gathered),
            (std::vector<int>{3, 4, 10, 20, 30, 40, 1, 2, 50, 60, 70, 80}));
}

TEST(RowValuesTest, UnlikeRowsOfOnePartAreNotJoined) {
  RowValues values = ValuesOf({OnesOf({1, 2}), OnesOf({1, 3})});
  const JoinedRows joined = {RowsOf({{0, 0}, {1, 0}}),
                             RowsOf({{0, 0}, {0, 0}})};
  EXPECT_EQ(Refused(std::move(values), joined).code(),
            absl::StatusCode::kInternal);
}

TEST(RowValuesTest, PartsOfOtherRanksAreNotJoined) {
  RowValues values = ValuesOf({OnesOf({1, 2}), OnesOf({1, 1, 2})});
  const JoinedRows joined = {RowsOf({{0, 0}}), RowsOf({{1, 0}})};
  EXPECT_EQ(Refused(std::move(values), joined).message(),
            "rows of the shapes [1,2] and [1,1,2] were to be one batch");
}

TEST(RowValuesTest, PartsOfOtherDtypesAreNotJoined) {
  RowValues values = ValuesOf({OnesOf({1, 2}), TensorOf<int>({1, 2}, {1, 2})});
  const JoinedRows joined = {RowsOf({{0, 0}}), RowsOf({{1, 0}})};
  EXPECT_EQ(Refused(std::move(values), joined).code(),
            absl::StatusCode::kInternal);
}

TEST(RowValuesTest, RowsWithoutDimensionsAreNotJoined) {
  RowValues values = ValuesOf({VectorOf<float>({1, 2})});
  const JoinedRows joined = {RowsOf({{0, 0}}), RowsOf({{0, 1}})};
  EXPECT_EQ(Refused(std::move(values), joined).code(),
            absl::StatusCode::kInternal);
}

TEST(RowValuesTest, StringsAreNotJoined) {
  RowValues values = ValuesOf({TensorOf<tf::tstring>({1, 1}, {"a"})});
  const JoinedRows joined = {RowsOf({{0, 0}}), RowsOf({{0, 0}})};
  EXPECT_EQ(Refused(std::move(values), joined).code(),
            absl::StatusCode::kInternal);
}

TEST(RowValuesTest, RowsThatMayComeSeveralTimesAreCounted) {
  RowValues values = ValuesOf({SixRows()});
  values.Add(SixRows(), /*are_shared=*/true);
  const auto count = [&values](const Rows& rows) {
    RowBatch batch;
    EXPECT_TRUE(values.Collect({rows}, /*holds=*/false, &batch).ok());
    return batch.scattered()->parts.front().num_shared;
  };
  EXPECT_EQ(count(RowsOf({{0, 4}, {0, 1}})), 0);
  EXPECT_EQ(count(RowsOf({{0, 4}, {1, 1}, {1, 2}, {1, 4}})), 3);
}

TEST(RowValuesTest, BytesAreAliveUntilTheirValueIsDropped) {
  RowValues values = ValuesOf({OnesOf({4, 16}), VectorOf<double>({1, 2})});
  EXPECT_EQ(values.bytes_alive(), 4 * 16 * 4 + 2 * 8);
  values.Drop(0);
  EXPECT_EQ(values.bytes_alive(), 2 * 8);
  EXPECT_EQ(values[0].NumElements(), 0);
  values.Drop(1);
  EXPECT_EQ(values.bytes_alive(), 0);
}

TEST(RowValuesTest, WhatARowIsLikeIsKnownOfADroppedValue) {
  RowValues values = ValuesOf({OnesOf({4, 3})});
  values.Drop(0);
  EXPECT_EQ(values.view(0).num_elements, 3);
  EXPECT_EQ(values.view(0).dtype, tf::DT_FLOAT);
}

TEST(JoinRowsTest, OnePartIsTheTensorItself) {
  const tf::Tensor part = VectorOf<float>({1, 2});
  tf::Tensor joined;
  ASSERT_TRUE(JoinRows({part}, &joined).ok());
  EXPECT_EQ(joined.data(), part.data());
}

TEST(JoinRowsTest, PartsComeOneAfterTheOther) {
  tf::Tensor joined;
  ASSERT_TRUE(JoinRows({TensorOf<float>({1, 2}, {1, 2}),
                        TensorOf<float>({2, 2}, {3, 4, 5, 6})},
                       &joined)
                  .ok());
  EXPECT_EQ(joined.shape(), tf::TensorShape({3, 2}));
  EXPECT_EQ(ElementsOf<float>(joined), (Floats{1, 2, 3, 4, 5, 6}));
}

TEST(JoinRowsTest, PartsWithoutRowsAreOfAnyShape) {
  tf::Tensor joined;
  ASSERT_TRUE(
      JoinRows({OnesOf({0, 7}), TensorOf<float>({1, 2}, {1, 2})}, &joined)
          .ok());
  EXPECT_EQ(joined.shape(), tf::TensorShape({1, 2}));
}

TEST(JoinRowsTest, NoRowsAtAllAreTheFirstPart) {
  tf::Tensor joined;
  ASSERT_TRUE(JoinRows({OnesOf({0, 7}), OnesOf({0, 2})}, &joined).ok());
  EXPECT_EQ(joined.shape(), tf::TensorShape({0, 7}));
}

TEST(JoinRowsTest, UnlikePartsAreAnError) {
  tf::Tensor joined;
  EXPECT_EQ(JoinRows({OnesOf({1, 2}), OnesOf({1, 3})}, &joined).code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(JoinRows({OnesOf({1}), OnesOf({})}, &joined).code(),
            absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace recursive_tf
