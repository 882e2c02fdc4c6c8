#include "recursive_tf/cc/base/pooled_vector.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/memory_pool.h"

namespace recursive_tf {
namespace {

TEST(PooledVectorTest, ItGrowsAsAnyVector) {
  PooledVector<int32_t> numbers;
  for (int32_t i = 0; i < 100'000; ++i) numbers.push_back(i);
  PooledVector<int32_t> moved = std::move(numbers);
  const PooledVector<int32_t> copied = moved;
  moved.clear();
  for (int32_t i = 0; i < 100'000; ++i) ASSERT_EQ(copied[i], i);
}

TEST(PooledVectorTest, ElementsMayOwnWhatTheyLike) {
  PooledVector<std::shared_ptr<int>> owners;
  const auto owned = std::make_shared<int>(7);
  for (int i = 0; i < 1000; ++i) owners.push_back(owned);
  EXPECT_EQ(owned.use_count(), 1001);
  owners = {};
  EXPECT_EQ(owned.use_count(), 1);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(PooledVectorTest, WhatItGivesBackIsTakenAgain) {
  constexpr size_t kMany = 50'000;
  const auto* first = PooledVector<double>(kMany).data();
  const size_t num_kept = MemoryPool::Global().num_kept();
  EXPECT_GE(num_kept, kMany * sizeof(double));
  const PooledVector<double> again(kMany);
  EXPECT_EQ(again.data(), first);
  EXPECT_LT(MemoryPool::Global().num_kept(), num_kept);
}
#endif

TEST(PooledVectorTest, MoreThanThereIsIsBadAlloc) {
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  EXPECT_THROW(FromPool<int32_t>().allocate(kMost / 2), std::bad_alloc);
  EXPECT_THROW(FromPool<int32_t>().allocate(kMost / 8), std::bad_alloc);
}

}  // namespace
}  // namespace recursive_tf
