#include "recursive_tf/cc/runtime/ordinals.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

constexpr int kNumThreads = 8;

Activation WithId(uint64_t id) {
  Activation activation;
  activation.id = id;
  return activation;
}

std::vector<int32_t> UpTo(int num_values) {
  std::vector<int32_t> values(num_values);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(OrdinalsTest, CountFromZero) {
  Ordinals ordinals;
  const Activation parent = WithId(1);
  EXPECT_EQ(ordinals.Next(parent, 0), 0);
  EXPECT_EQ(ordinals.Next(parent, 0), 1);
  EXPECT_EQ(ordinals.Next(parent, 0), 2);
}

TEST(OrdinalsTest, SitesCountApart) {
  Ordinals ordinals;
  const Activation parent = WithId(1);
  EXPECT_EQ(ordinals.Next(parent, 0), 0);
  EXPECT_EQ(ordinals.Next(parent, 1), 0);
  EXPECT_EQ(ordinals.Next(parent, kRootSite), 0);
  EXPECT_EQ(ordinals.Next(parent, 0), 1);
}

TEST(OrdinalsTest, ParentsCountApart) {
  Ordinals ordinals;
  EXPECT_EQ(ordinals.Next(WithId(1), 0), 0);
  EXPECT_EQ(ordinals.Next(WithId(2), 0), 0);
  EXPECT_EQ(ordinals.Next(WithId(1), 0), 1);
}

TEST(OrdinalsTest, ParentsAreToldApartByTheirIdsAlone) {
  Ordinals ordinals;
  const Activation parent = WithId(1);
  const Activation copy = parent;
  EXPECT_EQ(ordinals.Next(parent, 0), 0);
  EXPECT_EQ(ordinals.Next(copy, 0), 1);
}

TEST(OrdinalsTest, ASiteAndAnIdAreNotInterchangeable) {
  Ordinals ordinals;
  EXPECT_EQ(ordinals.Next(WithId(1), 2), 0);
  EXPECT_EQ(ordinals.Next(WithId(2), 1), 0);
}

TEST(OrdinalsTest, InvocationsWhoseHashesMeetCountApart) {
  constexpr uint64_t kFarId = 2971215074;
  constexpr int32_t kFarSite = 51053215;
  ASSERT_EQ(HashCombine(HashCombine(0, 1), 0),
            HashCombine(HashCombine(0, kFarId), kFarSite));
  Ordinals ordinals;
  EXPECT_EQ(ordinals.Next(WithId(1), 0), 0);
  EXPECT_EQ(ordinals.Next(WithId(kFarId), kFarSite), 0);
}

TEST(OrdinalsStressTest, EightThreadsAtOneSiteShareEachOrdinalOutOnce) {
  constexpr int kCallsPerThread = 5000;
  Ordinals ordinals;
  const Activation parent = WithId(1);
  std::array<std::vector<int32_t>, kNumThreads> seen;
  RunInThreads(kNumThreads, [&](int thread) {
    for (int i = 0; i < kCallsPerThread; ++i) {
      seen[thread].push_back(ordinals.Next(parent, 0));
    }
  });
  std::vector<int32_t> all;
  for (const std::vector<int32_t>& of_thread : seen) {
    EXPECT_TRUE(std::is_sorted(of_thread.begin(), of_thread.end()));
    all.insert(all.end(), of_thread.begin(), of_thread.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, UpTo(kNumThreads * kCallsPerThread));
}

TEST(OrdinalsStressTest, EightThreadsAtTheirOwnSitesDoNotDisturbEachOther) {
  constexpr int kNumParents = 1000;
  Ordinals ordinals;
  RunInThreads(kNumThreads, [&ordinals](int thread) {
    for (int id = 1; id <= kNumParents; ++id) {
      EXPECT_EQ(ordinals.Next(WithId(id), thread), 0);
      EXPECT_EQ(ordinals.Next(WithId(id), thread), 1);
    }
  });
}

}  // namespace
}  // namespace recursive_tf
