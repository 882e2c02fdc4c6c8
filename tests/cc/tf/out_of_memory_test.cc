#include "recursive_tf/cc/tf/out_of_memory.h"

#include <new>
#include <stdexcept>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

template <typename Exception>
absl::Status StatusOf(const Exception& exception) {
  const std::string name = "tree";
  return CatchExceptions([&]() -> absl::Status { throw exception; }, &name);
}

TEST(OutOfMemoryTest, AStatusIsHandedOn) {
  EXPECT_TRUE(CatchExceptions([] { return absl::OkStatus(); }).ok());
  EXPECT_EQ(CatchExceptions([] { return absl::NotFoundError("x"); }),
            absl::NotFoundError("x"));
}

TEST(OutOfMemoryTest, MemoryThatThereIsNotIsExhausted) {
  const absl::Status status = StatusOf(std::bad_alloc());
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "SubGraph 'tree' failed"));
  EXPECT_TRUE(absl::StrContains(status.message(), "max_bytes="));
  EXPECT_TRUE(absl::IsResourceExhausted(StatusOf(std::length_error("long"))));
}

TEST(OutOfMemoryTest, OtherExceptionsAreFaultsThatSayWhat) {
  const absl::Status status = StatusOf(std::out_of_range("index 7"));
  EXPECT_EQ(status, absl::InternalError("SubGraph 'tree' failed: index 7"));
}

TEST(OutOfMemoryTest, WhatIsNoneOfTheStandardLibrarysIsThrown) {
  EXPECT_THROW(StatusOf(7).IgnoreError(), int);
}

}  // namespace
}  // namespace recursive_tf
