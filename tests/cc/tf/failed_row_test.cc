#include "recursive_tf/cc/tf/failed_row.h"

#include <optional>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(FailedRowTest, AnErrorKeepsItsRow) {
  absl::Status status = WithFailedRow(absl::InternalError("it broke"), 7);
  EXPECT_EQ(TakeFailedRow(&status), 7);
}

TEST(FailedRowTest, WhatIsLeftIsTheErrorItself) {
  absl::Status status = WithFailedRow(absl::InternalError("it broke"), 7);
  TakeFailedRow(&status);
  EXPECT_EQ(status, absl::InternalError("it broke"));
}

TEST(FailedRowTest, ARowIsTakenOnce) {
  absl::Status status = WithFailedRow(absl::InternalError("it broke"), 7);
  TakeFailedRow(&status);
  EXPECT_EQ(TakeFailedRow(&status), std::nullopt);
}

TEST(FailedRowTest, AnErrorOfNoRowHasNone) {
  absl::Status status = absl::InternalError("it broke");
  EXPECT_EQ(TakeFailedRow(&status), std::nullopt);
}

TEST(FailedRowTest, NoErrorIsOfARow) {
  absl::Status status = WithFailedRow(absl::OkStatus(), 7);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(TakeFailedRow(&status), std::nullopt);
}

}  // namespace
}  // namespace recursive_tf
