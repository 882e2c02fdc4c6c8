#include "recursive_tf/cc/runtime/call_count.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

TEST(CallCountTest, CountsCallsAndWhatTheyHold) {
  CallCount count;
  count.Add(1024);
  count.Add(2048);
  EXPECT_EQ(count.Get().num_calls, 2);
  EXPECT_EQ(count.Get().num_bytes, 3072);
}

TEST(CallCountTest, AddReturnsWhatWasCountedBefore) {
  CallCount count;
  EXPECT_EQ(count.Add(1024).num_calls, 0);
  const CallCount::Total before = count.Add(1024);
  EXPECT_EQ(before.num_calls, 1);
  EXPECT_EQ(before.num_bytes, 1024);
}

TEST(CallCountTest, BytesAreRoundedUpForEachCall) {
  CallCount count;
  count.Add(0);
  EXPECT_EQ(count.Get().num_bytes, 0);
  count.Add(1);
  count.Add(1025);
  EXPECT_EQ(count.Get().num_bytes, 3072);
  EXPECT_EQ(CallCount::Rounded(1025), 2048);
}

TEST(CallCountTest, RemoveTakesBackWhatAddCounted) {
  CallCount count;
  count.Add(1500);
  count.Add(700);
  count.Remove(1500);
  EXPECT_EQ(count.Get().num_calls, 1);
  EXPECT_EQ(count.Get().num_bytes, 1024);
}

TEST(CallCountTest, RemoveBytesLeavesTheCall) {
  CallCount count;
  count.Add(1500);
  count.RemoveBytes(1500);
  EXPECT_EQ(count.Get().num_calls, 1);
  EXPECT_EQ(count.Get().num_bytes, 0);
}

TEST(CallCountTest, BytesThatAreTooManyDoNotChangeTheCalls) {
  constexpr int64_t kTerabyte = int64_t{1024} * 1024 * 1024 * 1024;
  CallCount count;
  for (int i = 0; i < 10; ++i) count.Add(kTerabyte);
  EXPECT_EQ(count.Get().num_calls, 10);
  for (int i = 0; i < 10; ++i) count.Remove(kTerabyte);
  EXPECT_EQ(count.Get().num_calls, 0);
  EXPECT_EQ(count.Get().num_bytes, 0);
}

TEST(CallCountStressTest, NothingIsLostBetweenEightThreads) {
  constexpr int kRounds = 20000;
  CallCount count;
  RunInThreads(8, [&](int thread) {
    for (int i = 0; i < kRounds; ++i) {
      count.Add(int64_t{1000} * thread);
      if (i % 2 == 0) count.Remove(int64_t{1000} * thread);
    }
  });
  int64_t bytes = 0;
  for (int thread = 0; thread < 8; ++thread) {
    bytes += CallCount::Rounded(int64_t{1000} * thread) * (kRounds / 2);
  }
  EXPECT_EQ(count.Get().num_calls, 8 * (kRounds / 2));
  EXPECT_EQ(count.Get().num_bytes, bytes);
}

}  // namespace
}  // namespace recursive_tf
