#include "recursive_tf/cc/tf/row_ops.h"

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/platform/tstring.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Three rows of two elements, 1 to 6.
template <typename T>
tf::Tensor ThreeRows() {
  tf::Tensor rows(tf::DataTypeToEnum<T>::value, {3, 2});
  T number(0);
  for (int i = 0; i < 6; ++i) rows.flat<T>()(i) = number = number + T(1);
  return rows;
}

template <typename T>
tf::Tensor Zeros(const tf::TensorShape& shape) {
  return TensorOf(shape,
                  std::vector<T>(shape.num_elements(), static_cast<T>(0)));
}

template <typename T>
std::vector<T> Elements(const std::vector<int>& numbers) {
  std::vector<T> elements;
  elements.reserve(numbers.size());
  for (const int number : numbers) elements.push_back(static_cast<T>(number));
  return elements;
}

TEST(RowOpsTest, TheFirstDimensionCountsRows) {
  EXPECT_EQ(NumRows(OnesOf({5, 2, 3})), 5);
  EXPECT_EQ(NumRows(OnesOf({0, 2})), 0);
}

TEST(RowOpsTest, AViewSaysWhatARowIsLike) {
  const tf::Tensor rows = OnesOf({5, 2, 3});
  const RowView view(rows);
  EXPECT_EQ(view.data, rows.data());
  EXPECT_EQ(view.dtype, tf::DT_FLOAT);
  EXPECT_EQ(view.rank, 2);
  EXPECT_TRUE(view.is_bytes);
  EXPECT_EQ(view.element_size, 4);
  EXPECT_EQ(view.num_elements, 6);
  EXPECT_EQ(view.num_bytes, 24);
}

TEST(RowOpsTest, AViewOfNoRowsHasRowsOfNoElements) {
  EXPECT_EQ(RowView(OnesOf({0, 3})).num_elements, 0);
}

TEST(RowOpsTest, StringsAreNoBytes) {
  EXPECT_FALSE(RowView(VectorOf<tf::tstring>({"a"})).is_bytes);
}

TEST(RowOpsTest, AllocatedRowsAreLikeOthersInAnotherNumber) {
  const tf::Tensor rows = AllocateRows(VectorOf<double>({1, 2}), 7);
  EXPECT_EQ(rows.dtype(), tf::DT_DOUBLE);
  EXPECT_EQ(rows.shape(), tf::TensorShape({7}));
}

// Of a dtype whose elements are bytes to a copy.
template <typename T>
class BytesTest : public testing::Test {};
using BytesTypes =
    testing::Types<float, double, Eigen::half, tf::bfloat16, int8_t, int16_t,
                   int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
                   std::complex<float>, std::complex<double>, tf::qint8>;
TYPED_TEST_SUITE(BytesTest, BytesTypes);

TYPED_TEST(BytesTest, RowsAreCopiedFromARowOnToARow) {
  const tf::Tensor from = ThreeRows<TypeParam>();
  const tf::Tensor to = Zeros<TypeParam>({4, 2});
  CopyRows(RowView(from), 1, 2, RowView(to), 2);
  EXPECT_EQ(ElementsOf<TypeParam>(to),
            Elements<TypeParam>({0, 0, 0, 0, 3, 4, 5, 6}));
}

TYPED_TEST(BytesTest, ARowIsCopiedToAPartOfARow) {
  const tf::Tensor from = ThreeRows<TypeParam>();
  const tf::Tensor to = Zeros<TypeParam>({2, 5});
  CopyToPartOfRow(RowView(from), 2, RowView(to), 1, 3);
  EXPECT_EQ(ElementsOf<TypeParam>(to),
            Elements<TypeParam>({0, 0, 0, 0, 0, 0, 0, 0, 5, 6}));
}

TYPED_TEST(BytesTest, ARowIsCleared) {
  const tf::Tensor rows = ThreeRows<TypeParam>();
  ClearRow(RowView(rows), 1);
  EXPECT_EQ(ElementsOf<TypeParam>(rows),
            Elements<TypeParam>({1, 2, 0, 0, 5, 6}));
}

// Of a dtype with a sum.
template <typename T>
class NumbersTest : public testing::Test {};
using NumberTypes =
    testing::Types<float, double, Eigen::half, tf::bfloat16, int8_t, int32_t,
                   int64_t, uint8_t, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(NumbersTest, NumberTypes);

TYPED_TEST(NumbersTest, APartOfARowIsAddedToARow) {
  const tf::Tensor from = ThreeRows<TypeParam>();
  const tf::Tensor to = Zeros<TypeParam>({2, 1});
  AddPartOfRow(RowView(from), 1, 1, RowView(to), 1);
  AddPartOfRow(RowView(from), 2, 0, RowView(to), 1);
  EXPECT_EQ(ElementsOf<TypeParam>(to), Elements<TypeParam>({0, 9}));
}

TYPED_TEST(NumbersTest, ItsDtypeCanBeAdded) {
  EXPECT_TRUE(CanAdd(tf::DataTypeToEnum<TypeParam>::value));
}

TEST(RowOpsTest, WhatIsNoNumberCannotBeAdded) {
  for (const tf::DataType dtype : {tf::DT_BOOL, tf::DT_STRING, tf::DT_VARIANT,
                                   tf::DT_RESOURCE, tf::DT_QINT8}) {
    EXPECT_FALSE(CanAdd(dtype)) << tf::DataTypeString(dtype);
  }
}

TEST(RowOpsTest, StringsAreCopied) {
  // Of all lengths that a string stores in another way.
  const std::string longer(40, 'x');
  const tf::Tensor from = VectorOf<tf::tstring>({"a", "b", longer});
  const tf::Tensor to = VectorOf<tf::tstring>({"d", longer, "f", "g"});
  CopyRows(RowView(from), 1, 2, RowView(to), 1);
  EXPECT_EQ(ElementsOf<tf::tstring>(to),
            (std::vector<tf::tstring>{"d", "b", longer, "g"}));
  EXPECT_EQ(ElementsOf<tf::tstring>(from)[2], longer);
}

TEST(RowOpsTest, VariantsAreCopied) {
  tf::Tensor from(tf::DT_VARIANT, {2});
  from.flat<tf::Variant>()(1) = 42;
  const tf::Tensor to(tf::DT_VARIANT, {2});
  CopyRows(RowView(from), 1, 1, RowView(to), 0);
  const int* copied = to.flat<tf::Variant>()(0).get<int>();
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(*copied, 42);
}

TEST(RowOpsTest, ResourceHandlesAreCopied) {
  tf::Tensor from(tf::DT_RESOURCE, {2});
  from.flat<tf::ResourceHandle>()(1).set_name("table");
  const tf::Tensor to(tf::DT_RESOURCE, {1});
  CopyRows(RowView(from), 1, 1, RowView(to), 0);
  EXPECT_EQ(to.flat<tf::ResourceHandle>()(0).name(), "table");
}

TEST(RowOpsTest, RowsWithoutElementsAreCopied) {
  const tf::Tensor from = OnesOf({3, 0});
  const tf::Tensor to = OnesOf({2, 0});
  CopyRows(RowView(from), 1, 2, RowView(to), 0);
}

TEST(RowOpsTest, ATensorIsOneRow) {
  const tf::Tensor tensor = VectorOf<float>({1, 2});
  tf::Tensor row;
  ASSERT_TRUE(AsOneRow(tensor, &row).ok());
  EXPECT_EQ(row.shape(), tf::TensorShape({1, 2}));
  EXPECT_EQ(row.data(), tensor.data());
}

TEST(RowOpsTest, ATensorBecomesOneRowInPlace) {
  tf::Tensor tensor = VectorOf<float>({1, 2});
  ASSERT_TRUE(AsOneRow(tensor, &tensor).ok());
  EXPECT_EQ(tensor.shape(), tf::TensorShape({1, 2}));
  ASSERT_TRUE(OnlyRow(tensor, &tensor).ok());
  EXPECT_EQ(tensor.shape(), tf::TensorShape({2}));
}

TEST(RowOpsTest, OfSeveralRowsNoneIsTheOnlyOne) {
  tf::Tensor row;
  EXPECT_EQ(OnlyRow(OnesOf({2, 3}), &row).message(),
            "a tensor of the shape [2,3] does not have one row");
}

TEST(RowOpsTest, AScalarHasNoRows) {
  tf::Tensor row;
  EXPECT_FALSE(OnlyRow(OnesOf({}), &row).ok());
}

}  // namespace
}  // namespace recursive_tf
