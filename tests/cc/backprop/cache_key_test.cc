#include "recursive_tf/cc/backprop/cache_key.h"

#include <array>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/testing/spread.h"

namespace recursive_tf {
namespace {

constexpr CacheKey kKey{/*parent=*/1, /*site=*/2, /*ordinal=*/3, /*region=*/4};

// kKey, but for one field each.
constexpr std::array<CacheKey, 4> kNeighbors = {
    {{9, 2, 3, 4}, {1, 9, 3, 4}, {1, 2, 9, 4}, {1, 2, 3, 9}}};

// What a binary recursion keeps: three regions for each of two calls by each of
// `num_parents`.
std::vector<CacheKey> KeysOfABinaryTree(int num_parents) {
  std::vector<CacheKey> keys;
  for (int parent = 1; parent <= num_parents; ++parent) {
    for (int site = 0; site < 2; ++site) {
      for (int region = 0; region < 3; ++region) {
        keys.push_back({static_cast<uint64_t>(parent), site, 0, region});
      }
    }
  }
  return keys;
}

// What the rows of a mapped root call keep.
std::vector<CacheKey> KeysOfRows(int num_rows) {
  std::vector<CacheKey> keys;
  keys.reserve(num_rows);
  for (int row = 0; row < num_rows; ++row) {
    keys.push_back({/*parent=*/0, kRootSite, row, /*region=*/0});
  }
  return keys;
}

std::vector<uint64_t> HashesOf(const std::vector<CacheKey>& keys) {
  std::vector<uint64_t> hashes;
  hashes.reserve(keys.size());
  for (const CacheKey& key : keys) hashes.push_back(CacheKeyHash()(key));
  return hashes;
}

TEST(CacheKeyTest, KeysWithEqualFieldsAreEqualAndHashEqually) {
  const CacheKey same{1, 2, 3, 4};
  EXPECT_TRUE(kKey == same);
  EXPECT_EQ(CacheKeyHash()(kKey), CacheKeyHash()(same));
}

TEST(CacheKeyTest, KeysThatDifferInOneFieldDiffer) {
  for (const CacheKey& neighbor : kNeighbors) {
    EXPECT_FALSE(kKey == neighbor);
    EXPECT_NE(CacheKeyHash()(kKey), CacheKeyHash()(neighbor));
  }
}

TEST(CacheKeyTest, FieldsAreNotInterchangeable) {
  EXPECT_FALSE((CacheKey{1, 2, 3, 4} == CacheKey{2, 1, 3, 4}));
  EXPECT_FALSE((CacheKey{1, 2, 3, 4} == CacheKey{1, 3, 2, 4}));
  EXPECT_FALSE((CacheKey{1, 2, 3, 4} == CacheKey{1, 2, 4, 3}));
}

TEST(CacheKeyTest, AnInvocationByTheRootCallHasParentZero) {
  Activation row;
  row.ordinal = 5;
  row.id = 17;
  EXPECT_TRUE((CacheKey::Of(row, 2) == CacheKey{0, kRootSite, 5, 2}));
}

TEST(CacheKeyTest, AnInvocationIsNamedByItsParentSiteAndOrdinal) {
  Activation parent;
  parent.id = 17;
  Activation child;
  child.parent = &parent;
  child.site = 3;
  child.ordinal = 5;
  EXPECT_TRUE((CacheKey::Of(child, 2) == CacheKey{17, 3, 5, 2}));
}

// The backward pass has other activations than the forward pass.
TEST(CacheKeyTest, TheOwnIdOfAnInvocationIsNoPartOfItsName) {
  Activation forward;
  forward.id = 17;
  Activation backward;
  backward.id = 99;
  EXPECT_TRUE(CacheKey::Of(forward, 0) == CacheKey::Of(backward, 0));
}

TEST(CacheKeyHashTest, KeysOfABinaryTreeDoNotMeet) {
  const std::vector<uint64_t> hashes = HashesOf(KeysOfABinaryTree(20000));
  const std::unordered_set<uint64_t> distinct(hashes.begin(), hashes.end());
  EXPECT_EQ(distinct.size(), hashes.size());
}

TEST(CacheKeyHashTest, KeysOfABinaryTreeSpreadOverTheShards) {
  EXPECT_LT(FullestClassOfAnyBits(HashesOf(KeysOfABinaryTree(5000))), 1.25);
}

TEST(CacheKeyHashTest, KeysOfRowsSpreadOverTheShards) {
  EXPECT_LT(FullestClassOfAnyBits(HashesOf(KeysOfRows(16000))), 1.25);
}

}  // namespace
}  // namespace recursive_tf
