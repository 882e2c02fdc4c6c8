#include "recursive_tf/cc/backprop/backprop_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/backprop/cache_key.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

constexpr int kNumThreads = 8;

CacheKey KeyOf(uint64_t parent, int32_t region = 0) {
  return {parent, /*site=*/3, /*ordinal=*/0, region};
}

// Two values, so that a cache of n keys holds 2 n.
std::vector<TracedValue> Pair(int id) {
  return {TracedValue(id), TracedValue(-id)};
}

TEST(BackpropCacheTest, GetReturnsWhatWasPut) {
  BackpropCache<int> cache;
  ASSERT_TRUE(cache.Put(KeyOf(7), {4, 2}));
  ASSERT_NE(cache.Get(KeyOf(7)), nullptr);
  EXPECT_EQ(*cache.Get(KeyOf(7)), (std::vector<int>{4, 2}));
}

TEST(BackpropCacheTest, GetOfABranchNotTakenIsNull) {
  BackpropCache<int> cache;
  ASSERT_TRUE(cache.Put(KeyOf(7, /*region=*/1), {4, 2}));
  EXPECT_EQ(cache.Get(KeyOf(7, /*region=*/2)), nullptr);
}

TEST(BackpropCacheTest, ARegionThatKeepsNothingIsStillKnown) {
  BackpropCache<int> cache;
  ASSERT_TRUE(cache.Put(KeyOf(7), {}));
  ASSERT_NE(cache.Get(KeyOf(7)), nullptr);
  EXPECT_TRUE(cache.Get(KeyOf(7))->empty());
}

TEST(BackpropCacheTest, SecondPutOfAKeyIsRefusedAndKeepsTheFirstValues) {
  BackpropCache<TracedValue> cache;
  ASSERT_TRUE(cache.Put(KeyOf(7), Pair(1)));
  EXPECT_FALSE(cache.Put(KeyOf(7), Pair(2)));
  EXPECT_EQ(cache.Get(KeyOf(7))->front().id(), 1);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(TracedValue::num_alive, 2);
}

TEST(BackpropCacheTest, ReadingDoesNotConsume) {
  BackpropCache<TracedValue> cache;
  ASSERT_TRUE(cache.Put(KeyOf(7), Pair(1)));
  const std::vector<TracedValue>* first = cache.Get(KeyOf(7));
  EXPECT_EQ(cache.Get(KeyOf(7)), first);
  EXPECT_EQ(cache.size(), 1U);
  EXPECT_EQ(TracedValue::num_alive, 2);
}

TEST(BackpropCacheTest, PutMovesTheValuesIn) {
  BackpropCache<std::unique_ptr<int>> cache;
  std::vector<std::unique_ptr<int>> values;
  values.push_back(std::make_unique<int>(42));
  const int* address = values.front().get();
  ASSERT_TRUE(cache.Put(KeyOf(7), std::move(values)));
  EXPECT_EQ(cache.Get(KeyOf(7))->front().get(), address);
}

TEST(BackpropCacheTest, ValuesStayWhereTheyAreWhileTheCacheGrows) {
  BackpropCache<int> cache;
  ASSERT_TRUE(cache.Put(KeyOf(0), {42}));
  const std::vector<int>* values = cache.Get(KeyOf(0));
  for (int i = 1; i < 10000; ++i) ASSERT_TRUE(cache.Put(KeyOf(i), {i}));
  EXPECT_EQ(cache.Get(KeyOf(0)), values);
  EXPECT_EQ(values->front(), 42);
}

TEST(BackpropCacheTest, ValuesLiveUntilTheCacheDies) {
  {
    BackpropCache<TracedValue> cache;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(cache.Put(KeyOf(i), Pair(i)));
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(cache.Get(KeyOf(i))->front().id(), i);
    }
    EXPECT_EQ(TracedValue::num_alive, 200);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

TEST(BackpropCacheTest, CachesOfTwoRootCallsDoNotMeet) {
  BackpropCache<TracedValue> first;
  ASSERT_TRUE(first.Put(KeyOf(7), Pair(1)));
  {
    BackpropCache<TracedValue> second;
    ASSERT_TRUE(second.Put(KeyOf(7), Pair(2)));
    EXPECT_EQ(TracedValue::num_alive, 4);
  }
  EXPECT_EQ(TracedValue::num_alive, 2);
  EXPECT_EQ(first.Get(KeyOf(7))->front().id(), 1);
}

TEST(BackpropCacheStressTest, EightThreadsPuttingTheirOwnKeysLoseNothing) {
  constexpr int kKeysPerThread = 2000;
  constexpr int kNumKeys = kNumThreads * kKeysPerThread;
  {
    BackpropCache<TracedValue> cache;
    RunInThreads(kNumThreads, [&cache](int thread) {
      for (int i = thread; i < kNumKeys; i += kNumThreads) {
        EXPECT_TRUE(cache.Put(KeyOf(i), Pair(i)));
      }
    });
    EXPECT_EQ(cache.size(), size_t{kNumKeys});
    for (int i = 0; i < kNumKeys; ++i) {
      EXPECT_EQ(cache.Get(KeyOf(i))->back().id(), -i);
    }
    EXPECT_EQ(TracedValue::num_alive, 2 * kNumKeys);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

TEST(BackpropCacheStressTest, ExactlyOneOfEightThreadsPutsAKey) {
  constexpr int kNumKeys = 1000;
  BackpropCache<TracedValue> cache;
  std::atomic<int> num_put = 0;
  RunInThreads(kNumThreads, [&](int) {
    for (int i = 0; i < kNumKeys; ++i) {
      if (cache.Put(KeyOf(i), Pair(i))) ++num_put;
    }
  });
  EXPECT_EQ(num_put, kNumKeys);
  EXPECT_EQ(TracedValue::num_alive, 2 * kNumKeys);
}

// Values are read without a lock while other threads put: the race detector
// sees whether a Put happens before the Get that sees it.
TEST(BackpropCacheStressTest, ValuesAreReadWhileOthersArePut) {
  constexpr int kNumKeys = 2000;
  BackpropCache<int> cache;
  RunInThreads(kNumThreads, [&cache](int thread) {
    const int32_t own = thread;
    const int32_t neighbors = (thread + 1) % kNumThreads;
    for (int i = 0; i < kNumKeys; ++i) {
      EXPECT_TRUE(cache.Put(KeyOf(i, own), {i, own}));
      const std::vector<int>* values = cache.Get(KeyOf(i, neighbors));
      if (values != nullptr) {
        EXPECT_EQ(*values, (std::vector<int>{i, neighbors}));
      }
    }
  });
  EXPECT_EQ(cache.size(), size_t{kNumThreads} * kNumKeys);
}

}  // namespace
}  // namespace recursive_tf
