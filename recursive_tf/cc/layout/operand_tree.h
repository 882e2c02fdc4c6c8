#ifndef RECURSIVE_TF_CC_LAYOUT_OPERAND_TREE_H_
#define RECURSIVE_TF_CC_LAYOUT_OPERAND_TREE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {

// Leaves side by side: places in OperandTree::leaves.
struct LeafRange {
  int32_t begin = 0;
  int32_t end = 0;
  // The same of the same leaves, whatever their order.
  uint64_t hash = 0;
};

// What of a PQ-tree an operand is: the leaves that a batch reads side by side,
// and what is above them, up to where all of them are. Leaves have numbers
// here: their places in the operand, so that the trees of two operands of a
// batch can be compared.
//
// Thread safety: immutable.
//
// Cost: almost linear in the operand's length; P-nodes sort their children.
class OperandTree {
 public:
  struct Node {
    int32_t pq_node = 0;
    PqTree::Kind kind = PqTree::Kind::kLeaf;
    // Nodes of this tree: those of a Q-node in their order, or in the reverse;
    // those of a P-node by their first leaves. The root of some children of a
    // Q-node has these alone.
    std::vector<int32_t> children;
    // The least of its leaves, and how many they are.
    int32_t first = 0;
    int32_t num_leaves = 0;
    // Where they are in `leaves`.
    int32_t begin = 0;
    uint64_t hash = 0;

    LeafRange range() const { return {begin, begin + num_leaves, hash}; }
  };

  // REQUIRES: the operand has leaves, each once, and Reduce was possible.
  OperandTree(const PqTree& tree, const std::vector<int32_t>& operand);

  // The leaves come first, children before their parents, the root last.
  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& root() const { return nodes_.back(); }
  // All leaves, so that those of each node stand side by side.
  const std::vector<int32_t>& leaves() const { return leaves_; }

  // Returns which leaves stand side by side in all orders that the PQ-tree
  // permits: those of each node, and of two children of a Q-node that are
  // siblings. From these all others follow.
  std::vector<LeafRange> Constraints() const;

 private:
  // Adds a node to its parent, which is complete if it has all children then.
  void AddToParent(const PqTree& tree, int32_t number);
  void Complete(const PqTree& tree, Node node);
  std::vector<int32_t> InOrder(const PqTree& tree,
                               const std::vector<int32_t>& children) const;
  // Returns a sibling of a Q-node's child that is here and is not that one, or
  // PqTree::kNone.
  int32_t SiblingOf(const PqTree& tree, int32_t child,
                    int32_t other_than) const;
  void FindLeaves();

  std::vector<Node> nodes_;
  std::vector<int32_t> leaves_;
  // By node of the PQ-tree, while this is made: its number, or what is known of
  // it before all of its children are.
  std::unordered_map<int32_t, int32_t> node_of_;
  std::unordered_map<int32_t, Node> begun_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_OPERAND_TREE_H_
