#include "recursive_tf/cc/layout/node_orders.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

using Children = NodePermutations::Children;

TEST(NodeDirectionsTest, NodesThatWereJoinedDecideOfEachOther) {
  NodeDirections directions(4);
  EXPECT_TRUE(directions.Join(0, 1, /*flipped=*/true));
  EXPECT_TRUE(directions.Join(2, 1, /*flipped=*/true));
  EXPECT_TRUE(directions.Join(3, 0, /*flipped=*/false));
  EXPECT_EQ(directions.IsReversed(0), directions.IsReversed(2));
  EXPECT_EQ(directions.IsReversed(0), directions.IsReversed(3));
  EXPECT_NE(directions.IsReversed(0), directions.IsReversed(1));
}

TEST(NodeDirectionsTest, AContradictionIsRefused) {
  NodeDirections directions(3);
  EXPECT_TRUE(directions.Join(0, 1, /*flipped=*/true));
  EXPECT_TRUE(directions.Join(1, 2, /*flipped=*/true));
  EXPECT_TRUE(directions.Join(2, 0, /*flipped=*/false));
  EXPECT_FALSE(directions.Join(0, 2, /*flipped=*/true));
  EXPECT_FALSE(directions.Join(1, 1, /*flipped=*/true));
  EXPECT_EQ(directions.IsReversed(0), directions.IsReversed(2));
}

TEST(NodeDirectionsTest, AreThoseOfAHiddenChoice) {
  std::mt19937 rng(0);
  const auto below = [&rng](int32_t n) {
    return std::uniform_int_distribution<int32_t>(0, n - 1)(rng);
  };
  std::vector<bool> hidden(200);
  for (size_t i = 0; i < hidden.size(); ++i) hidden[i] = below(2) == 0;
  NodeDirections directions(hidden.size());
  for (int32_t i = 0; i < 1000; ++i) {
    const int32_t a = below(200);
    const int32_t b = below(200);
    ASSERT_TRUE(directions.Join(a, b, hidden[a] != hidden[b]));
    ASSERT_EQ(directions.IsReversed(a) != directions.IsReversed(b),
              hidden[a] != hidden[b]);
  }
}

TEST(NodePermutationsTest, NodesThatWereJoinedHaveOneOrder) {
  NodePermutations permutations(3);
  EXPECT_TRUE(permutations.Join(0, 1, {1, 2, 0}));
  EXPECT_TRUE(permutations.Join(1, 2, {0, 2, 1}));
  const Children first = permutations.InOrder(0, 3);
  const Children second = permutations.InOrder(1, 3);
  const Children third = permutations.InOrder(2, 3);
  const Children to_second = {1, 2, 0};
  const Children to_third = {0, 2, 1};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(second[i], to_second[first[i]]);
    EXPECT_EQ(third[i], to_third[second[i]]);
  }
}

TEST(NodePermutationsTest, AContradictionIsRefused) {
  NodePermutations permutations(2);
  EXPECT_TRUE(permutations.Join(0, 1, {1, 2, 0}));
  EXPECT_TRUE(permutations.Join(0, 1, {1, 2, 0}));
  EXPECT_FALSE(permutations.Join(0, 1, {0, 1, 2}));
  EXPECT_FALSE(permutations.Join(0, 0, {1, 0, 2}));
  EXPECT_TRUE(permutations.Join(1, 0, {2, 0, 1}));
}

TEST(NodePermutationsTest, AreThoseOfAHiddenChoice) {
  std::mt19937 rng(0);
  const auto below = [&rng](int32_t n) {
    return std::uniform_int_distribution<int32_t>(0, n - 1)(rng);
  };
  constexpr int32_t kChildren = 5;
  // By node: where each child stands, and which stands at each place.
  std::vector<Children> places(100, Children(kChildren));
  std::vector<Children> children(100, Children(kChildren));
  for (size_t node = 0; node < places.size(); ++node) {
    std::iota(children[node].begin(), children[node].end(), 0);
    std::shuffle(children[node].begin(), children[node].end(), rng);
    for (int32_t i = 0; i < kChildren; ++i) places[node][children[node][i]] = i;
  }
  NodePermutations permutations(places.size());
  for (int32_t i = 0; i < 500; ++i) {
    const int32_t a = below(100);
    const int32_t b = below(100);
    Children a_to_b(kChildren);
    for (int32_t k = 0; k < kChildren; ++k) {
      a_to_b[k] = children[b][places[a][k]];
    }
    ASSERT_TRUE(permutations.Join(a, b, a_to_b));
    const Children of_a = permutations.InOrder(a, kChildren);
    const Children of_b = permutations.InOrder(b, kChildren);
    for (int32_t k = 0; k < kChildren; ++k) {
      ASSERT_EQ(of_b[k], a_to_b[of_a[k]]);
    }
  }
}

}  // namespace
}  // namespace recursive_tf
