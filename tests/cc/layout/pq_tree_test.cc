#include "recursive_tf/cc/layout/pq_tree.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

using Order = std::vector<int32_t>;
using Reduced = PqTree::Reduced;

bool SideBySide(const Order& order, const std::vector<int32_t>& leaves) {
  const auto is_one = [&](int32_t leaf) {
    return std::find(leaves.begin(), leaves.end(), leaf) != leaves.end();
  };
  const auto first = std::find_if(order.begin(), order.end(), is_one);
  return std::all_of(first, first + static_cast<int64_t>(leaves.size()),
                     is_one);
}

std::set<Order> AllOrders(int32_t num_leaves) {
  Order order(num_leaves);
  std::iota(order.begin(), order.end(), 0);
  std::set<Order> orders;
  do {
    orders.insert(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return orders;
}

// Returns all orders that a node permits.
std::vector<Order> OrdersOf(const PqTree& tree, int32_t node) {
  if (tree.kind(node) == PqTree::Kind::kLeaf) return {{node}};
  std::vector<int32_t> children = tree.ChildrenOf(node);
  std::vector<std::vector<int32_t>> arrangements;
  if (tree.kind(node) == PqTree::Kind::kQ) {
    arrangements = {children, {children.rbegin(), children.rend()}};
  } else {
    std::sort(children.begin(), children.end());
    do {
      arrangements.push_back(children);
    } while (std::next_permutation(children.begin(), children.end()));
  }
  std::vector<Order> orders;
  for (const auto& arrangement : arrangements) {
    std::vector<Order> partial = {{}};
    for (const int32_t child : arrangement) {
      std::vector<Order> longer;
      for (const Order& end : OrdersOf(tree, child)) {
        for (Order order : partial) {
          order.insert(order.end(), end.begin(), end.end());
          longer.push_back(std::move(order));
        }
      }
      partial = std::move(longer);
    }
    orders.insert(orders.end(), partial.begin(), partial.end());
  }
  return orders;
}

void CheckParents(const PqTree& tree, int32_t node) {
  const auto children = tree.ChildrenOf(node);
  if (tree.kind(node) != PqTree::Kind::kLeaf) {
    ASSERT_GE(children.size(), 2);
  }
  for (const int32_t child : children) {
    ASSERT_EQ(tree.ParentOf(child), node);
    CheckParents(tree, child);
  }
}

TEST(PqTreeTest, PermitsAllOrdersAtFirst) {
  EXPECT_EQ(PqTree(1).ToText(), "0");
  EXPECT_EQ(PqTree(3).ToText(), "{0 1 2}");
  EXPECT_EQ(PqTree(3).Frontier(), Order({0, 1, 2}));
}

TEST(PqTreeTest, OverlappingSetsAreInOneOrder) {
  PqTree tree(5);
  EXPECT_EQ(tree.Reduce({1, 3}), Reduced::kChanged);
  EXPECT_EQ(tree.Reduce({3, 4}), Reduced::kChanged);
  EXPECT_EQ(tree.ToText(), "{0 2 [1 3 4]}");
  EXPECT_EQ(tree.Reduce({4, 3, 1}), Reduced::kUnchanged);
  EXPECT_EQ(tree.Reduce({0, 2}), Reduced::kChanged);
  EXPECT_EQ(tree.ToText(), "{[1 3 4] {0 2}}");
}

// Chen et al. 2023, figure 4.
TEST(PqTreeTest, ThePapersExample) {
  PqTree tree(9);  // x1 to x8 are 1 to 8; 0 is nothing.
  for (const auto& leaves : std::vector<std::vector<int32_t>>{
           {4, 5}, {1, 3}, {2, 1}, {8, 6, 7}, {3, 4, 5}}) {
    EXPECT_EQ(tree.Reduce(leaves), Reduced::kChanged);
  }
  EXPECT_EQ(tree.ToText(), "{0 [2 1 3 {4 5}] {8 6 7}}");
}

TEST(PqTreeTest, AnImpossibleSetChangesNothing) {
  PqTree tree(4);
  for (const auto& leaves :
       std::vector<std::vector<int32_t>>{{0, 1}, {1, 2}, {2, 3}}) {
    EXPECT_EQ(tree.Reduce(leaves), Reduced::kChanged);
  }
  const std::string before = tree.ToText();
  EXPECT_EQ(tree.Reduce({0, 2}), Reduced::kImpossible);
  EXPECT_EQ(tree.Reduce({0, 3}), Reduced::kImpossible);
  EXPECT_EQ(tree.ToText(), before);
  EXPECT_EQ(tree.Reduce({1, 2, 3}), Reduced::kUnchanged);
}

TEST(PqTreeTest, PermitsWhatABruteForceSearchDoes) {
  std::mt19937 rng(0);
  const auto below = [&](int32_t n) {
    return std::uniform_int_distribution<int32_t>(0, n - 1)(rng);
  };
  int num_possible = 0;
  int num_impossible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int32_t num_leaves = trial < 2 ? 8 : 2 + below(6);
    PqTree tree(num_leaves);
    std::set<Order> orders = AllOrders(num_leaves);
    for (int step = 0; step < 8; ++step) {
      Order leaves(num_leaves);
      std::iota(leaves.begin(), leaves.end(), 0);
      std::shuffle(leaves.begin(), leaves.end(), rng);
      leaves.resize(1 + below(num_leaves));
      std::set<Order> left;
      for (const Order& order : orders) {
        if (SideBySide(order, leaves)) left.insert(order);
      }
      const std::string before = tree.ToText();
      const Reduced reduced = tree.Reduce(leaves);
      ASSERT_EQ(reduced == Reduced::kImpossible, left.empty()) << before;
      ++(left.empty() ? num_impossible : num_possible);
      if (left.empty()) {
        ASSERT_EQ(tree.ToText(), before);
        continue;
      }
      ASSERT_EQ(reduced == Reduced::kChanged, left.size() < orders.size())
          << before << " -> " << tree.ToText();
      orders = std::move(left);
      const std::vector<Order> permitted = OrdersOf(tree, tree.root());
      ASSERT_EQ(std::set<Order>(permitted.begin(), permitted.end()), orders)
          << before << " -> " << tree.ToText();
      // Each once, but for a Q-node of two children.
      CheckParents(tree, tree.root());
    }
  }
  EXPECT_GT(num_possible, 200);
  EXPECT_GT(num_impossible, 200);
}

Order Shuffled(int32_t size, std::mt19937* rng) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), *rng);
  return order;
}

// Windows over a hidden order are always possible.
std::vector<Order> WindowsOver(const Order& hidden, int32_t length,
                               std::mt19937* rng) {
  const auto count = static_cast<int32_t>(hidden.size()) - length + 1;
  std::vector<Order> windows;
  for (const int32_t start : Shuffled(count, rng)) {
    const auto first = hidden.begin() + start;
    windows.push_back({first, first + length});
  }
  return windows;
}

TEST(PqTreeTest, FindsAHiddenOrderOfManyLeaves) {
  constexpr int32_t kLeaves = 100'000;
  std::mt19937 rng(1);
  const Order hidden = Shuffled(kLeaves, &rng);
  PqTree tree(kLeaves);
  for (const Order& window : WindowsOver(hidden, 3, &rng)) {
    ASSERT_NE(tree.Reduce(window), Reduced::kImpossible);
  }
  Order found = tree.Frontier();
  if (found[0] != hidden[0] && found[1] != hidden[0]) {
    std::reverse(found.begin(), found.end());
  }
  // Windows of three leave the first two, and the last two, in any order.
  EXPECT_TRUE(
      std::equal(found.begin() + 2, found.end() - 2, hidden.begin() + 2));
}

// Returns how many steps a tree takes for each leaf in all sets.
double StepsOf(int32_t num_leaves, const std::vector<Order>& sets) {
  PqTree tree(num_leaves);
  size_t size = 0;
  for (const Order& leaves : sets) {
    tree.Reduce(leaves);
    size += leaves.size();
  }
  return static_cast<double>(tree.num_steps()) / static_cast<double>(size);
}

// Halves of halves: each set is of two of those before it.
std::vector<Order> Halves(int32_t num_leaves) {
  std::vector<Order> sets;
  for (int32_t size = 2; size < num_leaves; size *= 2) {
    for (int32_t first = 0; first + size <= num_leaves; first += size) {
      sets.emplace_back(size);
      std::iota(sets.back().begin(), sets.back().end(), first);
    }
  }
  return sets;
}

TEST(PqTreeTest, StepsAreLinearInTheSizeOfTheSets) {
  for (const int32_t num_leaves : {1'000, 10'000, 100'000}) {
    std::mt19937 rng(num_leaves);
    const Order hidden = Shuffled(num_leaves, &rng);
    EXPECT_LT(StepsOf(num_leaves, WindowsOver(hidden, 2, &rng)), 12);
    EXPECT_LT(StepsOf(num_leaves, WindowsOver(hidden, 10, &rng)), 12);
    EXPECT_LT(StepsOf(num_leaves, Halves(num_leaves)), 12);
    // After pairs that leave one order, most others are impossible.
    std::vector<Order> pairs = WindowsOver(hidden, 2, &rng);
    const Order one = Shuffled(num_leaves, &rng);
    for (size_t i = 1; i < one.size(); ++i) {
      pairs.push_back({one[i - 1], one[i]});
    }
    EXPECT_LT(StepsOf(num_leaves, pairs), 12);
  }
}

}  // namespace
}  // namespace recursive_tf
