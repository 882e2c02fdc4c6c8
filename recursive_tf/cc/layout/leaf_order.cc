#include "recursive_tf/cc/layout/leaf_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/layout/node_orders.h"
#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/operand_tree.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {
namespace {

bool HaveLikeLeaves(const OperandTree::Node& a, const OperandTree::Node& b) {
  return a.first == b.first && a.num_leaves == b.num_leaves;
}

bool IsPermutation(const OperandTree::Node& node) {
  return node.kind == PqTree::Kind::kP && node.children.size() > 2;
}

}  // namespace

LeafOrder::LeafOrder(const PqTree* tree)
    : tree_(*tree),
      places_(tree->num_nodes(), 0),
      directions_(tree->num_nodes()),
      permutations_(tree->num_nodes()) {
  std::vector<int32_t> stack = {tree->root()};
  while (!stack.empty()) {
    const std::vector<int32_t> children = tree->ChildrenOf(stack.back());
    stack.pop_back();
    for (size_t i = 0; i < children.size(); ++i) {
      places_[children[i]] = static_cast<int32_t>(i);
      stack.push_back(children[i]);
    }
  }
}

void LeafOrder::Align(const Operand& a, const Operand& b) {
  const OperandTree tree_a(tree_, a);
  const OperandTree tree_b(tree_, b);
  const auto root = [](const OperandTree& tree) {
    return static_cast<int32_t>(tree.nodes().size()) - 1;
  };
  std::vector<Pair> pairs = {{root(tree_a), root(tree_b)}};
  while (!pairs.empty()) {
    const Pair nodes = pairs.back();
    pairs.pop_back();
    if (!AlignNodes(tree_a, tree_b, nodes, &pairs)) return;
  }
}

bool LeafOrder::AlignNodes(const OperandTree& a, const OperandTree& b,
                           Pair nodes, std::vector<Pair>* pairs) {
  const OperandTree::Node& node_a = a.nodes()[nodes.first];
  const OperandTree::Node& node_b = b.nodes()[nodes.second];
  if (!HaveLikeLeaves(node_a, node_b)) return false;
  if (node_a.children.size() != node_b.children.size()) return false;
  if (node_a.children.empty()) return true;
  const bool is_permutation = IsPermutation(node_a);
  if (is_permutation != IsPermutation(node_b)) return false;
  return is_permutation ? AlignPermutations(a, b, nodes, pairs)
                        : AlignDirections(a, b, nodes, pairs);
}

bool LeafOrder::AlignDirections(const OperandTree& a, const OperandTree& b,
                                Pair nodes, std::vector<Pair>* pairs) {
  const OperandTree::Node& node_a = a.nodes()[nodes.first];
  const OperandTree::Node& node_b = b.nodes()[nodes.second];
  const std::vector<int32_t>& of_a = node_a.children;
  std::vector<int32_t> of_b = node_b.children;
  if (!HaveLikeLeaves(a.nodes()[of_a[0]], b.nodes()[of_b[0]])) {
    std::reverse(of_b.begin(), of_b.end());
  }
  for (size_t i = 0; i < of_a.size(); ++i)
    pairs->emplace_back(of_a[i], of_b[i]);
  const auto is_reversed = [this](const OperandTree& tree,
                                  const std::vector<int32_t>& children) {
    return places_[tree.nodes()[children[0]].pq_node] >
           places_[tree.nodes()[children[1]].pq_node];
  };
  return directions_.Join(node_a.pq_node, node_b.pq_node,
                          is_reversed(a, of_a) != is_reversed(b, of_b));
}

bool LeafOrder::AlignPermutations(const OperandTree& a, const OperandTree& b,
                                  Pair nodes, std::vector<Pair>* pairs) {
  const OperandTree::Node& node_a = a.nodes()[nodes.first];
  const OperandTree::Node& node_b = b.nodes()[nodes.second];
  NodePermutations::Children a_to_b(node_a.children.size());
  for (size_t i = 0; i < a_to_b.size(); ++i) {
    const int32_t child_a = node_a.children[i];
    const int32_t child_b = node_b.children[i];
    pairs->emplace_back(child_a, child_b);
    a_to_b[places_[a.nodes()[child_a].pq_node]] =
        places_[b.nodes()[child_b].pq_node];
  }
  return permutations_.Join(node_a.pq_node, node_b.pq_node, a_to_b);
}

std::vector<int32_t> LeafOrder::Get() {
  std::vector<int32_t> leaves;
  std::vector<int32_t> stack = {tree_.root()};
  while (!stack.empty()) {
    const int32_t node = stack.back();
    stack.pop_back();
    if (tree_.kind(node) == PqTree::Kind::kLeaf) leaves.push_back(node);
    const std::vector<int32_t> children = tree_.ChildrenOf(node);
    const auto count = static_cast<int32_t>(children.size());
    const bool is_permutation =
        tree_.kind(node) == PqTree::Kind::kP && count > 2;
    const bool is_reversed = !is_permutation && directions_.IsReversed(node);
    const std::vector<int32_t> in_order = permutations_.InOrder(node, count);
    // The last goes onto the stack first.
    for (int32_t i = count; i-- > 0;) {
      const int32_t place = is_reversed ? count - 1 - i : i;
      stack.push_back(children[is_permutation ? in_order[place] : place]);
    }
  }
  return leaves;
}

}  // namespace recursive_tf
