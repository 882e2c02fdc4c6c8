#include "recursive_tf/cc/layout/operand_tree.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {
namespace {

using Sets = std::set<std::vector<int32_t>>;

PqTree TreeOf(int32_t num_leaves, const std::vector<Operand>& sets) {
  PqTree tree(num_leaves);
  for (const Operand& leaves : sets) tree.Reduce(leaves);
  return tree;
}

// Returns which places of an operand have to stand side by side.
Sets ConstraintsOf(const PqTree& tree, const Operand& operand) {
  const OperandTree of_operand(tree, operand);
  Sets found;
  for (const LeafRange& range : of_operand.Constraints()) {
    std::vector<int32_t> places(of_operand.leaves().begin() + range.begin,
                                of_operand.leaves().begin() + range.end);
    std::sort(places.begin(), places.end());
    found.insert(places);
  }
  return found;
}

TEST(OperandTreeTest, OfAPNodeAllLeavesStandTogether) {
  const PqTree tree = TreeOf(5, {{1, 2, 3}});
  EXPECT_EQ(ConstraintsOf(tree, {3, 1, 2}), Sets({{0, 1, 2}}));
  EXPECT_TRUE(ConstraintsOf(tree, {4}).empty());
}

TEST(OperandTreeTest, OfAQNodeSiblingsDo) {
  const PqTree tree = TreeOf(4, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(ConstraintsOf(tree, {3, 1, 0, 2}),
            Sets({{0, 1, 2, 3}, {1, 2}, {1, 3}, {0, 3}}));
}

TEST(OperandTreeTest, MayBeAPartOfAQNode) {
  const PqTree tree = TreeOf(7, {{0, 1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 1}});
  EXPECT_EQ(ConstraintsOf(tree, {3, 2, 4}), Sets({{0, 1, 2}, {0, 1}, {0, 2}}));
  // What stands at the end of it in any order.
  EXPECT_EQ(ConstraintsOf(tree, {2, 0, 1}), Sets({{0, 1, 2}, {1, 2}}));
}

TEST(OperandTreeTest, ChildrenComeBeforeTheirParents) {
  const PqTree tree = TreeOf(6, {{0, 1}, {0, 1, 2}, {3, 4}, {0, 1, 2, 3, 4}});
  const OperandTree operand(tree, {4, 2, 0, 3, 1});
  EXPECT_EQ(operand.root().num_leaves, 5);
  EXPECT_EQ(operand.root().first, 0);
  for (int32_t i = 0; i < static_cast<int32_t>(operand.nodes().size()); ++i) {
    const OperandTree::Node& node = operand.nodes()[i];
    EXPECT_EQ(node.children.empty(), i < 5);
    for (const int32_t child : node.children) EXPECT_LT(child, i);
  }
}

}  // namespace
}  // namespace recursive_tf
