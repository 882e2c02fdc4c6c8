#include "recursive_tf/cc/tf/failed_row.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

// Runs some of eight rows, of which those fail that it has.
class SomeThatFail {
 public:
  explicit SomeThatFail(std::set<int64_t> rows) : failing_(std::move(rows)) {}

  absl::Status operator()(int64_t begin, int64_t end) {
    num_run_ += end - begin;
    const auto first = failing_.lower_bound(begin);
    if (first == failing_.end() || *first >= end) return absl::OkStatus();
    return absl::OutOfRangeError(absl::StrCat("row ", *first));
  }

  int64_t num_run() const { return num_run_; }

 private:
  const std::set<int64_t> failing_;
  int64_t num_run_ = 0;
};

TEST(FindFailedRowTest, ItIsTheFirstOne) {
  for (int64_t row = 0; row < 8; ++row) {
    SomeThatFail some({row, 7});
    absl::Status status = absl::OutOfRangeError("all rows");
    EXPECT_EQ(FindFailedRow(8, std::ref(some), &status), row);
    EXPECT_EQ(status, absl::OutOfRangeError(absl::StrCat("row ", row)));
    EXPECT_LE(some.num_run(), 8);
  }
}

TEST(FindFailedRowTest, ARowOfARunIsNoRowOfAll) {
  absl::Status status = absl::OutOfRangeError("all rows");
  const auto fails_from_row_3_on = [](int64_t begin, int64_t end) {
    if (end <= 3) return absl::OkStatus();
    const int64_t row = std::max<int64_t>(3 - begin, 0);
    return WithFailedRow(absl::OutOfRangeError("a check"), row);
  };
  EXPECT_EQ(FindFailedRow(8, fails_from_row_3_on, &status), 3);
  EXPECT_EQ(TakeFailedRow(&status), std::nullopt);
  EXPECT_EQ(status, absl::OutOfRangeError("a check"));
}

TEST(FindFailedRowTest, WhatFailsOnlyTogetherIsOfNoRow) {
  for (int64_t num_rows : {1, 8}) {
    SomeThatFail none({});
    absl::Status status = absl::InvalidArgumentError("all rows");
    EXPECT_EQ(FindFailedRow(num_rows, std::ref(none), &status), std::nullopt);
    EXPECT_EQ(status, absl::InvalidArgumentError("all rows"));
  }
}

TEST(FindFailedRowTest, WhatIsNotOfWhatRowsHoldDoesNotRunAgain) {
  SomeThatFail some({3});
  absl::Status status = absl::CancelledError("given up");
  EXPECT_EQ(FindFailedRow(8, std::ref(some), &status), std::nullopt);
  EXPECT_EQ(status, absl::CancelledError("given up"));
  EXPECT_EQ(some.num_run(), 0);
}

}  // namespace
}  // namespace recursive_tf
