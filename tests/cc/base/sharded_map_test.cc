#include "recursive_tf/cc/base/sharded_map.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

constexpr int kNumThreads = 8;

struct IntHash {
  size_t operator()(int key) const { return HashCombine(0, key); }
};

struct SameHash {
  size_t operator()(int /*key*/) const { return 7; }
};

template <typename Value>
using IntMap = ShardedMap<int, Value, IntHash>;

TEST(ShardedMapTest, FindReturnsWhatWasInserted) {
  IntMap<int> map;
  ASSERT_TRUE(map.Insert(7, 42));
  ASSERT_NE(map.Find(7), nullptr);
  EXPECT_EQ(*map.Find(7), 42);
}

TEST(ShardedMapTest, FindOfAnAbsentKeyIsNull) {
  IntMap<int> map;
  ASSERT_TRUE(map.Insert(7, 42));
  EXPECT_EQ(map.Find(8), nullptr);
}

TEST(ShardedMapTest, SecondInsertOfAKeyIsRefusedAndKeepsTheFirstValue) {
  IntMap<TracedValue> map;
  ASSERT_TRUE(map.Insert(7, TracedValue(1)));
  EXPECT_FALSE(map.Insert(7, TracedValue(2)));
  EXPECT_EQ(map.Find(7)->id(), 1);
  EXPECT_EQ(TracedValue::num_alive, 1);
}

TEST(ShardedMapTest, KeysWithTheSameHashStayApart) {
  ShardedMap<int, int, SameHash> map;
  ASSERT_TRUE(map.Insert(1, 10));
  ASSERT_TRUE(map.Insert(2, 20));
  EXPECT_EQ(*map.Find(1), 10);
  EXPECT_EQ(*map.Find(2), 20);
  EXPECT_EQ(map.Find(3), nullptr);
}

TEST(ShardedMapTest, ValuesMayBeMoveOnly) {
  IntMap<std::unique_ptr<int>> map;
  auto value = std::make_unique<int>(42);
  const int* address = value.get();
  ASSERT_TRUE(map.Insert(7, std::move(value)));
  EXPECT_EQ(map.Find(7)->get(), address);
}

TEST(ShardedMapTest, ValuesStayWhereTheyAreWhileTheMapGrows) {
  IntMap<int> map;
  ASSERT_TRUE(map.Insert(0, 42));
  const int* value = map.Find(0);
  for (int key = 1; key < 10000; ++key) ASSERT_TRUE(map.Insert(key, key));
  EXPECT_EQ(map.Find(0), value);
  EXPECT_EQ(*value, 42);
}

TEST(ShardedMapTest, ApplyStartsFromADefaultValue) {
  IntMap<int> map;
  EXPECT_EQ(map.Apply(7, [](int& value) { return value; }), 0);
  EXPECT_EQ(map.size(), 1U);
}

TEST(ShardedMapTest, ApplyChangesTheValueThatWasInserted) {
  IntMap<int> map;
  ASSERT_TRUE(map.Insert(7, 40));
  EXPECT_EQ(map.Apply(7, [](int& value) { return value += 2; }), 42);
  EXPECT_EQ(*map.Find(7), 42);
}

TEST(ShardedMapTest, SizeCountsTheKeysOfAllShards) {
  IntMap<int> map;
  EXPECT_EQ(map.size(), 0U);
  for (int key = 0; key < 1000; ++key) ASSERT_TRUE(map.Insert(key, key));
  EXPECT_EQ(map.size(), 1000U);
}

TEST(ShardedMapTest, ValuesLiveUntilTheMapDies) {
  {
    IntMap<TracedValue> map;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(map.Insert(i, TracedValue(i)));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(map.Find(i)->id(), i);
    EXPECT_EQ(TracedValue::num_alive, 100);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

TEST(ShardedMapStressTest, ExactlyOneOfEightThreadsInsertsAKey) {
  constexpr int kNumKeys = 2000;
  IntMap<int> map;
  std::atomic<int> num_inserted = 0;
  RunInThreads(kNumThreads, [&](int thread) {
    for (int key = 0; key < kNumKeys; ++key) {
      if (map.Insert(key, thread)) ++num_inserted;
    }
  });
  EXPECT_EQ(num_inserted, kNumKeys);
  EXPECT_EQ(map.size(), size_t{kNumKeys});
}

// Half of the threads read, without a lock, what the others insert: the race
// detector sees whether an insertion happens before the Find that sees it.
TEST(ShardedMapStressTest, AValueIsWholeAsSoonAsItIsFound) {
  constexpr int kNumKeys = 1000;
  constexpr int kNumWriters = kNumThreads / 2;
  IntMap<std::vector<int>> map;
  RunInThreads(kNumThreads, [&map](int thread) {
    const int writer = thread % kNumWriters;
    for (int i = 0; i < kNumKeys; ++i) {
      const int key = (i * kNumWriters) + writer;
      if (thread < kNumWriters) {
        EXPECT_TRUE(map.Insert(key, std::vector<int>(3, key)));
      } else if (const std::vector<int>* found = map.Find(key)) {
        EXPECT_EQ(*found, std::vector<int>(3, key));
      }
    }
  });
  EXPECT_EQ(map.size(), size_t{kNumKeys} * kNumWriters);
}

TEST(ShardedMapStressTest, EightThreadsApplyingToTheSameKeysLoseNothing) {
  constexpr int kNumKeys = 5;
  constexpr int kRounds = 2000;
  IntMap<int> map;
  RunInThreads(kNumThreads, [&map](int) {
    for (int i = 0; i < kRounds * kNumKeys; ++i) {
      map.Apply(i % kNumKeys, [](int& value) { return ++value; });
    }
  });
  for (int key = 0; key < kNumKeys; ++key) {
    EXPECT_EQ(*map.Find(key), kNumThreads * kRounds);
  }
}

}  // namespace
}  // namespace recursive_tf
