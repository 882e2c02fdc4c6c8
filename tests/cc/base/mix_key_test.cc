#include "recursive_tf/cc/base/mix_key.h"

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/spread.h"

namespace recursive_tf {
namespace {

constexpr uint64_t kLargest = std::numeric_limits<uint64_t>::max();

TEST(MixKeyTest, IsTheSameInEveryRun) {
  EXPECT_EQ(MixKey(0, 0), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(MixKey(0, 1), 0x6E789E6AA1B965F4U);
}

TEST(MixKeyTest, OrderMatters) {
  EXPECT_NE(MixKey(MixKey(0, 1), 2), MixKey(MixKey(0, 2), 1));
  EXPECT_NE(MixKey(1, 2), MixKey(2, 1));
}

TEST(MixKeyTest, OneKeyNeverGivesTwoNumbersTheSame) {
  constexpr int kNumNumbers = 100000;
  for (const uint64_t key : {uint64_t{0}, uint64_t{1}, kLargest}) {
    std::unordered_set<uint64_t> distinct;
    for (int i = 0; i < kNumNumbers; ++i) distinct.insert(MixKey(key, i));
    EXPECT_EQ(distinct.size(), size_t{kNumNumbers}) << "key " << key;
  }
}

TEST(MixKeyTest, AllPathsOfABinaryTreeDiffer) {
  constexpr int kDepth = 17;
  std::vector<uint64_t> level = {0};
  std::unordered_set<uint64_t> distinct;
  size_t count = 0;
  for (int depth = 0; depth < kDepth; ++depth) {
    std::vector<uint64_t> next;
    for (const uint64_t key : level) {
      next.push_back(MixKey(key, 0));
      next.push_back(MixKey(key, 1));
    }
    distinct.insert(next.begin(), next.end());
    count += next.size();
    level = next;
  }
  EXPECT_EQ(distinct.size(), count);
}

TEST(MixKeyTest, ConsecutiveNumbersSpreadOverTheWholeWord) {
  std::vector<uint64_t> mixed;
  mixed.reserve(16000);
  for (uint64_t i = 0; i < 16000; ++i) mixed.push_back(MixKey(0, i));
  EXPECT_LT(FullestClassOfAnyBits(mixed), 1.25);
}

TEST(MixKeyTest, EachBitOfAKeyChangesHalfOfTheBits) {
  constexpr int kNumKeys = 1000;
  for (unsigned bit = 0; bit < 64; ++bit) {
    size_t changed = 0;
    for (uint64_t i = 0; i < kNumKeys; ++i) {
      const uint64_t key = MixKey(7, i);
      const uint64_t other = key ^ (uint64_t{1} << bit);
      changed += std::bitset<64>(MixKey(key, 3) ^ MixKey(other, 3)).count();
    }
    const double share = static_cast<double>(changed) / (64.0 * kNumKeys);
    EXPECT_NEAR(share, 0.5, 0.02) << "bit " << bit;
  }
}

}  // namespace
}  // namespace recursive_tf
