#include "recursive_tf/cc/tf/call_statuses.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(CallStatusesTest, OneCallEndsLast) {
  CallStatuses statuses(3);
  EXPECT_FALSE(statuses.End(2, absl::OkStatus()));
  EXPECT_FALSE(statuses.End(0, absl::OkStatus()));
  EXPECT_TRUE(statuses.End(1, absl::OkStatus()));
  EXPECT_TRUE(statuses.First().ok());
}

TEST(CallStatusesTest, TheFirstErrorIsThatOfTheFirstCallWhoeverEndsFirst) {
  CallStatuses statuses(3);
  (void)statuses.End(2, absl::InternalError("third"));
  (void)statuses.End(1, absl::InternalError("second"));
  (void)statuses.End(0, absl::OkStatus());
  EXPECT_EQ(statuses.First().message(), "second");
}

}  // namespace
}  // namespace recursive_tf
