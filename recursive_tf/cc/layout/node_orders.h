#ifndef RECURSIVE_TF_CC_LAYOUT_NODE_ORDERS_H_
#define RECURSIVE_TF_CC_LAYOUT_NODE_ORDERS_H_

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace recursive_tf {

// In which of two directions the children of each node stand, as far as nodes
// decide of each other: union-find, where a node knows whether it stands as its
// parent does.
//
// Thread safety: none.
//
// Cost: almost constant; memory is linear in the number of nodes.
class NodeDirections {
 public:
  explicit NodeDirections(size_t num_nodes)
      : parents_(num_nodes), is_flipped_(num_nodes, false) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  // Says that two nodes stand in one direction, or, `flipped`, in opposite
  // ones. Returns false, and changes nothing, if that cannot be.
  [[nodiscard]] bool Join(int32_t a, int32_t b, bool flipped) {
    const auto [root_a, a_flipped] = Find(a);
    const auto [root_b, b_flipped] = Find(b);
    const bool roots_flipped = (a_flipped != b_flipped) != flipped;
    if (root_a == root_b) return !roots_flipped;
    parents_[root_a] = root_b;
    is_flipped_[root_a] = roots_flipped;
    return true;
  }

  bool IsReversed(int32_t node) { return Find(node).second; }

 private:
  // Returns who decides, and whether `node` stands in the opposite direction.
  std::pair<int32_t, bool> Find(int32_t node) {
    bool flipped = false;
    int32_t root = node;
    for (; parents_[root] != root; root = parents_[root]) {
      flipped = flipped != is_flipped_[root];
    }
    for (bool left = flipped; node != root;) {
      const bool above = left != is_flipped_[node];
      is_flipped_[node] = left;
      left = above;
      node = std::exchange(parents_[node], root);
    }
    return {root, flipped};
  }

  std::vector<int32_t> parents_;
  std::vector<bool> is_flipped_;
};

// The same for nodes whose children stand in any order: a node knows which of
// its children stands where each of its parent's does.
//
// Thread safety: none.
//
// Cost: almost linear in the number of children.
class NodePermutations {
 public:
  // Children, by number: to child i of a node belongs child [i] of another one.
  // Empty if to each belongs the one with its number.
  using Children = std::vector<int32_t>;

  explicit NodePermutations(size_t num_nodes)
      : parents_(num_nodes), to_parents_(num_nodes) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }

  // Says that the children of two nodes stand in one order: where child i of
  // `a` stands, there stands child a_to_b[i] of `b`. Returns false, and changes
  // nothing, if that cannot be.
  [[nodiscard]] bool Join(int32_t a, int32_t b, const Children& a_to_b) {
    const auto [root_a, a_to_root] = Find(a);
    const auto [root_b, b_to_root] = Find(b);
    Children between(a_to_b.size());
    for (size_t i = 0; i < a_to_b.size(); ++i) {
      between[At(a_to_root, i)] = At(b_to_root, a_to_b[i]);
    }
    if (root_a != root_b) {
      parents_[root_a] = root_b;
      to_parents_[root_a] = std::move(between);
      return true;
    }
    for (size_t i = 0; i < between.size(); ++i) {
      if (between[i] != static_cast<int32_t>(i)) return false;
    }
    return true;
  }

  // Returns the children of a node, which has so many, as they stand.
  Children InOrder(int32_t node, int32_t num_children) {
    const Children to_root = Find(node).second;
    Children children(num_children);
    for (int32_t i = 0; i < num_children; ++i) children[At(to_root, i)] = i;
    return children;
  }

 private:
  static int32_t At(const Children& children, size_t i) {
    return children.empty() ? static_cast<int32_t>(i) : children[i];
  }

  // Returns who decides, and which of its children belong to those of `node`.
  std::pair<int32_t, Children> Find(int32_t node) {
    std::vector<int32_t> way;
    while (parents_[node] != node) {
      way.push_back(node);
      node = parents_[node];
    }
    Children to_root;
    for (size_t i = way.size(); i-- > 0;) {
      Children& own = to_parents_[way[i]];
      for (int32_t& child : own) child = At(to_root, child);
      to_root = own;
      parents_[way[i]] = node;
    }
    return {node, to_root};
  }

  std::vector<int32_t> parents_;
  // Empty of a node that decides.
  std::vector<Children> to_parents_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_NODE_ORDERS_H_
