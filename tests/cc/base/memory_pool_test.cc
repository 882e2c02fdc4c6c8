#include "recursive_tf/cc/base/memory_pool.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

constexpr size_t kMuch = size_t{1} << 30;

TEST(MemoryPoolTest, WhatIsTakenIsAlignedAndLargeEnough) {
  MemoryPool pool(kMuch);
  std::vector<size_t> sizes = {0, 1, 63, 64, 65, 511, 512, 513, 575, 576, 577};
  for (size_t size = 1000; size < (size_t{32} << 20); size = size * 7 / 5) {
    sizes.push_back(size);
  }
  for (const size_t size : sizes) {
    void* const memory = pool.Take(size);
    ASSERT_NE(memory, nullptr) << size;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % MemoryPool::kAlignment, 0U);
    std::memset(memory, 1, size);
    pool.Give(memory);
  }
}

TEST(MemoryPoolTest, RoundsUpByAnEighthAtMost) {
  size_t last = 0;
  for (size_t size = 1; size < (size_t{500} << 20); size += 1 + size / 50) {
    const size_t rounded = MemoryPool::RoundedUp(size);
    EXPECT_GE(rounded, size);
    EXPECT_LE(rounded, size + size / 8 + MemoryPool::kAlignment) << size;
    EXPECT_GE(rounded, last) << size;
    last = rounded;
  }
}

TEST(MemoryPoolTest, WhatIsGivenBackIsTakenAgainTheLastFirst) {
  MemoryPool pool(kMuch);
  void* const a = pool.Take(1000);
  void* const b = pool.Take(1000);
  EXPECT_NE(a, b);
  pool.Give(a);
  pool.Give(b);
  EXPECT_EQ(pool.num_kept(), 2 * MemoryPool::RoundedUp(1000));
  EXPECT_EQ(pool.Take(MemoryPool::RoundedUp(1000)), b);
  EXPECT_EQ(pool.Take(999), a);
  EXPECT_EQ(pool.num_kept(), 0U);
  pool.Give(a);
  pool.Give(b);
  pool.Give(nullptr);
}

TEST(MemoryPoolTest, KeepsNoMoreThanItMay) {
  MemoryPool pool(10'000);
  std::vector<void*> taken(100);
  for (void*& each : taken) each = pool.Take(1024);
  for (void* const each : taken) pool.Give(each);
  EXPECT_GT(pool.num_kept(), 0U);
  EXPECT_LE(pool.num_kept(), 10'000U);
}

TEST(MemoryPoolTest, WhatIsTooLargeForAClassIsNotKept) {
  MemoryPool pool(kMuch);
  void* const memory = pool.Take(size_t{600} << 20);
  ASSERT_NE(memory, nullptr);
  pool.Give(memory);
  EXPECT_EQ(pool.num_kept(), 0U);
}

TEST(MemoryPoolTest, HoldsAQuarterMoreThanWasEverTakenAtATime) {
  MemoryPool pool(kMuch);
  // What is taken is read nowhere, so the system gives no memory for it.
  constexpr size_t kSize = size_t{20} << 20;
  std::vector<void*> taken(5);
  for (void*& each : taken) each = pool.Take(kSize);
  const size_t most = 5 * MemoryPool::RoundedUp(kSize);
  EXPECT_EQ(pool.num_held(), most);
  for (void* const each : taken) pool.Give(each);
  EXPECT_EQ(pool.num_kept(), most);
  for (size_t size = kSize / 2; size < 3 * kSize; size += kSize / 7) {
    void* const other = pool.Take(size);
    EXPECT_LE(pool.num_held(), most + most / 4);
    EXPECT_EQ(pool.num_taken(), MemoryPool::RoundedUp(size));
    pool.Give(other);
  }
  EXPECT_GT(pool.num_kept(), most / 2);
}

TEST(MemoryPoolTest, LevelsOfATreeAreSoonOfWhatIsKept) {
  MemoryPool pool(kMuch);
  size_t num_held = 0;
  for (int step = 0; step < 6; ++step) {
    // Each level reads the one below it, which is twice as large.
    void* below = pool.Take(2 * MemoryPool::kLeastHeld);
    for (size_t size = MemoryPool::kLeastHeld; size > 1000; size /= 2) {
      void* const level = pool.Take(size);
      pool.Give(below);
      below = level;
      EXPECT_GE(pool.num_held(), num_held) << "some was let go for " << size;
      if (step > 2) {
        EXPECT_EQ(pool.num_held(), num_held) << size << " was new";
      }
      num_held = pool.num_held();
    }
    pool.Give(below);
  }
  const size_t most_taken = 3 * MemoryPool::kLeastHeld;
  EXPECT_LE(num_held, most_taken / 4 * 5 / 8 * 9);
}

TEST(MemoryPoolTest, LittleMakesPlaceForNothing) {
  MemoryPool pool(kMuch);
  void* const large = pool.Take(MemoryPool::kLeastHeld / 2);
  pool.Give(large);
  void* const small = pool.Take(1000);
  EXPECT_EQ(pool.Take(MemoryPool::kLeastHeld / 2), large);
  pool.Give(large);
  pool.Give(small);
}

TEST(MemoryPoolTest, GivesNoneWhereThereIsNone) {
  MemoryPool pool(kMuch);
  EXPECT_EQ(pool.Take(std::numeric_limits<size_t>::max()), nullptr);
  EXPECT_EQ(pool.Take(std::numeric_limits<size_t>::max() / 2), nullptr);
}

TEST(MemoryPoolTest, ThreadsTakeAndGiveWhatOthersTook) {
  MemoryPool pool(size_t{1} << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      std::vector<unsigned char*> mine(8, nullptr);
      for (int i = 0; i < 5000; ++i) {
        unsigned char*& memory = mine[i % mine.size()];
        if (memory != nullptr) {
          EXPECT_EQ(int{memory[0]}, t);
          pool.Give(memory);
        }
        memory = static_cast<unsigned char*>(pool.Take(64 + i * 37 % 3000));
        memory[0] = static_cast<unsigned char>(t);
      }
      for (unsigned char* const memory : mine) pool.Give(memory);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.num_kept(), size_t{2} << 20);
}

}  // namespace
}  // namespace recursive_tf
