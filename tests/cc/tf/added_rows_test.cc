#include "recursive_tf/cc/tf/added_rows.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

constexpr int32_t kNumRows = 120;

// Two values: one of shared rows, each of 2 x 3 numbers, and one of others.
struct Values : BatchedRecord {
  Values() {
    values.push_back(
        {tensorflow::DT_FLOAT, tensorflow::TensorShape({10, 2, 3})});
    values.push_back({tensorflow::DT_FLOAT, tensorflow::TensorShape({200, 4})});
    are_shared = {true, false};
  }
};

Rows Repeated(int32_t value, int32_t num_different,
              int32_t num_rows = kNumRows) {
  Rows rows;
  for (int32_t i = 0; i < num_rows; ++i) rows.Add({value, i % num_different});
  return rows;
}

TEST(AddedRowsTest, RowsOfOneRowAreAGroup) {
  const Values values;
  const AddedOutput found = AddedRowsOf({Repeated(0, 10)}, values);
  ASSERT_EQ(found.size(), size_t{1});
  EXPECT_EQ(found[0].width, 6);
  EXPECT_EQ(found[0].groups.num_groups(), 10);
  for (int32_t row = 0; row < kNumRows; ++row) {
    EXPECT_EQ(found[0].groups.group_of()[row], row % 10);
  }
}

TEST(AddedRowsTest, EachJoinedPartHasGroupsOfItsOwn) {
  const Values values;
  const AddedOutput found =
      AddedRowsOf({Repeated(1, kNumRows), Repeated(0, 7)}, values);
  ASSERT_EQ(found.size(), size_t{2});
  EXPECT_EQ(found[0].width, 4);
  EXPECT_EQ(found[0].groups.num_groups(), 0);
  EXPECT_EQ(found[1].groups.num_groups(), 7);
}

TEST(AddedRowsTest, RowsOfOtherValuesAreOthers) {
  const Values values;
  Rows rows = Repeated(0, 2, 100);
  rows.Add(Repeated(1, 20, 20));
  const AddedOutput found = AddedRowsOf({rows}, values);
  ASSERT_EQ(found.size(), size_t{1});
  EXPECT_EQ(found[0].groups.num_groups(), 22);
}

// One activation's row may be read by several; what their gradients are is then
// the same in every batch.
TEST(AddedRowsTest, OnlySharedValuesCount) {
  const Values values;
  EXPECT_TRUE(AddedRowsOf({Repeated(1, 10)}, values).empty());
}

TEST(AddedRowsTest, ManyDifferentRowsAreAllTaken) {
  const Values values;
  EXPECT_FALSE(AddedRowsOf({Repeated(0, 90)}, values).empty());
  EXPECT_TRUE(AddedRowsOf({Repeated(0, 91)}, values).empty());
}

TEST(AddedRowsTest, FewRowsAreAllTaken) {
  const Values values;
  EXPECT_FALSE(AddedRowsOf({Repeated(0, 2, 96)}, values).empty());
  EXPECT_TRUE(AddedRowsOf({Repeated(0, 2, 95)}, values).empty());
  EXPECT_TRUE(AddedRowsOf({Rows()}, values).empty());
}

}  // namespace
}  // namespace recursive_tf
