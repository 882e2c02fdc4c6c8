#include "recursive_tf/cc/base/hash.h"

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

std::vector<uint64_t> HashesOfConsecutiveValues(uint64_t seed, int num_values) {
  std::vector<uint64_t> hashes;
  hashes.reserve(num_values);
  for (int i = 0; i < num_values; ++i) hashes.push_back(HashCombine(seed, i));
  return hashes;
}

TEST(HashCombineTest, IsTheSameInEveryRun) {
  EXPECT_EQ(HashCombine(0, 1), 0x9E3779B9E17D05ACU);
}

TEST(HashCombineTest, OrderMatters) {
  EXPECT_NE(HashCombine(HashCombine(0, 1), 2),
            HashCombine(HashCombine(0, 2), 1));
}

TEST(HashCombineTest, OneSeedNeverMakesTwoValuesEqual) {
  constexpr int kNumValues = 100000;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, kLargest}) {
    const std::vector<uint64_t> hashes =
        HashesOfConsecutiveValues(seed, kNumValues);
    const std::unordered_set<uint64_t> distinct(hashes.begin(), hashes.end());
    EXPECT_EQ(distinct.size(), hashes.size()) << "seed " << seed;
  }
}

TEST(HashCombineTest, PairsOfSmallValuesDoNotMeet) {
  constexpr int kNumSeeds = 1000;
  constexpr int kNumValues = 100;
  std::unordered_set<uint64_t> distinct;
  for (int seed = 0; seed < kNumSeeds; ++seed) {
    for (int value = 0; value < kNumValues; ++value) {
      distinct.insert(HashCombine(HashCombine(0, seed), value));
    }
  }
  EXPECT_EQ(distinct.size(), size_t{kNumSeeds} * kNumValues);
}

TEST(HashCombineTest, ConsecutiveValuesSpreadOverTheWholeWord) {
  EXPECT_LT(FullestClassOfAnyBits(HashesOfConsecutiveValues(0, 16000)), 1.25);
}

TEST(HashCombineTest, ConsecutiveSeedsSpreadOverTheWholeWord) {
  constexpr uint64_t kNumSeeds = 16000;
  std::vector<uint64_t> hashes;
  hashes.reserve(kNumSeeds);
  for (uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    hashes.push_back(HashCombine(HashCombine(0, seed), 0));
  }
  EXPECT_LT(FullestClassOfAnyBits(hashes), 1.25);
}

}  // namespace
}  // namespace recursive_tf
