#ifndef RECURSIVE_TF_CC_LAYOUT_PQ_TREE_H_
#define RECURSIVE_TF_CC_LAYOUT_PQ_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace recursive_tf {

// All orders of some leaves in which certain sets of leaves stand side by side:
// the PQ-tree of Booth and Lueker 1976 ("Testing for the consecutive ones
// property, interval graphs, and graph planarity using PQ-tree algorithms").
//
// The children of a P-node may stand in any order, those of a Q-node in theirs
// or in the reverse. What these permit are the orders.
//
// Invariants:
//   1. A node that is no leaf has two children or more.
//   2. A child of a P-node has its number as `parent`; one of a Q-node that of
//      the Q-node or of one that was merged into it, which `merged_into_`
//      finds.
//   3. Siblings know each other in no direction, so that a Q-node is reversed,
//      and joined to another, in constant time.
//
// Thread safety: none, not even of const methods, which shorten ways for
// others.
//
// Cost: a set of k leaves is reduced in time that is almost linear in k and in
// the part of the tree that it changes. `num_steps` counts it.
class PqTree {
 public:
  enum class Kind : uint8_t { kLeaf, kP, kQ };
  enum class Reduced : uint8_t { kUnchanged, kChanged, kImpossible };

  // Permits all orders of the leaves 0, 1, ... REQUIRES: there is one.
  explicit PqTree(int32_t num_leaves);

  // Permits only orders in which these leaves stand side by side. If there is
  // none of those that were permitted, nothing changes. REQUIRES: each leaf is
  // there once.
  Reduced Reduce(const std::vector<int32_t>& leaves);

  // Nodes: the leaves, and others, of which some may be no more.
  int32_t num_leaves() const { return num_leaves_; }
  size_t num_nodes() const { return nodes_.size(); }
  int32_t root() const { return root_; }
  Kind kind(int32_t node) const { return nodes_[node].kind; }
  // Returns kNone for the root.
  int32_t ParentOf(int32_t node) const;
  int32_t num_children(int32_t node) const { return nodes_[node].num_children; }
  // Returns those of a Q-node in their order, or in the reverse.
  std::vector<int32_t> ChildrenOf(int32_t node) const;
  // Returns what stands at the two sides of a child of a Q-node, in no order;
  // kNone at an end.
  std::array<int32_t, 2> SiblingsOf(int32_t child) const {
    return {nodes_[child].near[0], nodes_[child].near[1]};
  }

  // Returns one of the permitted orders.
  std::vector<int32_t> Frontier() const;
  // Returns the tree: "{0 [1 2 3]}" is a P-node of a leaf and of a Q-node.
  std::string ToText() const;

  // How many nodes, and links between nodes, all reductions looked at so far.
  int64_t num_steps() const { return num_steps_; }

  static constexpr int32_t kNone = -1;

 private:
  // How many of a node's leaves are in the set: none, some, all.
  enum class Label : uint8_t { kEmpty, kPartial, kFull };

  struct Node {
    Kind kind = Kind::kLeaf;
    int32_t parent = kNone;
    int32_t near[2] = {kNone, kNone};
    // Its outermost children. While a Q-node is partial, its empty children are
    // at the first, its full ones at the second.
    int32_t ends[2] = {kNone, kNone};
    int32_t num_children = 0;
  };

  // What a reduction knows of a node.
  struct Mark {
    int64_t reduction =
        0;  // Of which it is; from another one, it says nothing.
    Label label = Label::kEmpty;
    int32_t num_leaves = 0;  // In the set.
    int32_t num_waiting =
        0;                 // Pertinent children whose label is not known yet.
    int32_t num_full = 0;  // Children.
    std::vector<int32_t> pertinent;  // Those with leaves in the set.
    // What stands in their places once they were reduced.
    std::vector<int32_t> full;
    std::vector<int32_t> partial;
  };

  // Sets `order_` to the pertinent nodes, children first, up to the lowest that
  // has all leaves of the set, and their labels. Returns whether the set can
  // stand side by side.
  bool FindLabels(const std::vector<int32_t>& leaves);
  void CountWaiting(const std::vector<int32_t>& leaves);
  bool CanReduce(int32_t node, bool is_root);
  bool IsRun(int32_t q_node, bool is_root);

  // The templates. Each returns what stands where the node stood.
  int32_t Apply(int32_t node, bool is_root);
  int32_t ApplyToP(int32_t node);
  int32_t ApplyToPRoot(int32_t node);
  void ApplyToQ(int32_t node);
  void Splice(int32_t q_node, int32_t partial);

  Mark& MarkOf(int32_t node);
  Label LabelOf(int32_t node) const;
  void SetLabel(int32_t node, Label label) { MarkOf(node).label = label; }

  int32_t Make(Kind kind);
  // Returns a P-node of nodes that are nobody's children, or the only one.
  int32_t Group(const std::vector<int32_t>& nodes);
  // Takes the full children of a node from it, and returns their group.
  int32_t TakeFull(int32_t node);
  // Returns what is left of a P-node without some children, standing nowhere:
  // itself, its only child, or kNone.
  int32_t Rest(int32_t node);
  void Append(int32_t parent, int32_t child, int side);
  void Detach(int32_t child);
  void Replace(int32_t node, int32_t by);
  void ReplaceNear(int32_t node, int32_t old_near, int32_t new_near);
  // Joins the full ends of two partial Q-nodes; the second is no more.
  void JoinFullEnds(int32_t q_node, int32_t other);
  int32_t Survivor(int32_t node) const;

  int32_t num_leaves_;
  int32_t root_;
  std::vector<Node> nodes_;
  // By node: the Q-node that it became a part of, or itself.
  mutable std::vector<int32_t> merged_into_;

  int64_t reduction_ = 0;
  bool changed_ = false;
  mutable int64_t num_steps_ = 0;
  std::vector<Mark> marks_;
  std::vector<int32_t> order_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_PQ_TREE_H_
