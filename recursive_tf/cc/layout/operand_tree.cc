#include "recursive_tf/cc/layout/operand_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/mix_key.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {
namespace {

constexpr int32_t kNone = PqTree::kNone;

}  // namespace

OperandTree::OperandTree(const PqTree& tree,
                         const std::vector<int32_t>& operand) {
  for (size_t i = 0; i < operand.size(); ++i) {
    Node leaf;
    leaf.pq_node = operand[i];
    leaf.first = static_cast<int32_t>(i);
    leaf.num_leaves = 1;
    leaf.hash = MixKey(0, i);
    Complete(tree, std::move(leaf));
  }
  const auto num_leaves = static_cast<int32_t>(operand.size());
  for (size_t i = 0; nodes_[i].num_leaves < num_leaves; ++i) {
    AddToParent(tree, static_cast<int32_t>(i));
    if (i + 1 < nodes_.size()) continue;
    // Some children of a Q-node: the others are not of the operand.
    Complete(tree, std::move(begun_.begin()->second));
    break;
  }
  node_of_.clear();
  begun_.clear();
  FindLeaves();
}

void OperandTree::AddToParent(const PqTree& tree, int32_t number) {
  const Node& node = nodes_[number];
  const int32_t pq_parent = tree.ParentOf(node.pq_node);
  const auto [found, is_new] = begun_.try_emplace(pq_parent);
  Node& parent = found->second;
  if (is_new) {
    parent.pq_node = pq_parent;
    parent.kind = tree.kind(pq_parent);
    parent.first = node.first;
  }
  parent.children.push_back(number);
  parent.first = std::min(parent.first, node.first);
  parent.num_leaves += node.num_leaves;
  parent.hash += node.hash;
  const auto num_children = static_cast<int32_t>(parent.children.size());
  if (num_children < tree.num_children(pq_parent)) return;
  Node complete = std::move(parent);
  begun_.erase(found);
  Complete(tree, std::move(complete));
}

void OperandTree::Complete(const PqTree& tree, Node node) {
  if (node.kind == PqTree::Kind::kQ) {
    node.children = InOrder(tree, node.children);
  } else {
    std::sort(node.children.begin(), node.children.end(),
              [this](int32_t a, int32_t b) {
                return nodes_[a].first < nodes_[b].first;
              });
  }
  node_of_[node.pq_node] = static_cast<int32_t>(nodes_.size());
  nodes_.push_back(std::move(node));
}

std::vector<int32_t> OperandTree::InOrder(
    const PqTree& tree, const std::vector<int32_t>& children) const {
  int32_t child =
      *std::find_if(children.begin(), children.end(), [&](int32_t each) {
        const int32_t sibling = SiblingOf(tree, each, kNone);
        return sibling == kNone || SiblingOf(tree, each, sibling) == kNone;
      });
  std::vector<int32_t> in_order;
  for (int32_t previous = kNone; child != kNone;) {
    in_order.push_back(child);
    const int32_t next = SiblingOf(tree, child, previous);
    previous = child;
    child = next;
  }
  return in_order;
}

int32_t OperandTree::SiblingOf(const PqTree& tree, int32_t child,
                               int32_t other_than) const {
  for (const int32_t sibling : tree.SiblingsOf(nodes_[child].pq_node)) {
    const auto found = node_of_.find(sibling);
    if (found != node_of_.end() && found->second != other_than) {
      return found->second;
    }
  }
  return kNone;
}

void OperandTree::FindLeaves() {
  for (size_t i = nodes_.size(); i-- > 0;) {
    int32_t begin = nodes_[i].begin;
    for (const int32_t child : nodes_[i].children) {
      nodes_[child].begin = begin;
      begin += nodes_[child].num_leaves;
    }
  }
  leaves_.resize(root().num_leaves);
  for (int32_t i = 0; i < root().num_leaves; ++i) leaves_[nodes_[i].begin] = i;
}

std::vector<LeafRange> OperandTree::Constraints() const {
  std::vector<LeafRange> found;
  for (size_t i = leaves_.size(); i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    found.push_back(node.range());
    if (node.kind != PqTree::Kind::kQ) continue;
    for (size_t k = 1; k < node.children.size(); ++k) {
      const LeafRange one = nodes_[node.children[k - 1]].range();
      const LeafRange next = nodes_[node.children[k]].range();
      found.push_back({one.begin, next.end, one.hash + next.hash});
    }
  }
  return found;
}

}  // namespace recursive_tf
