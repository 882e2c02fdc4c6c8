#ifndef RECURSIVE_TF_CC_LAYOUT_LEAF_ORDER_H_
#define RECURSIVE_TF_CC_LAYOUT_LEAF_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/layout/node_orders.h"
#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/operand_tree.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {

// The second pass of algorithm 2 of Chen et al. 2023: of the orders that a
// PQ-tree permits, one in which the operands of each batch are aligned. Nodes
// of two operands that have the same leaves decide of each other: of which
// direction, or which permutation, their children are. A node of two children
// has a direction, whatever its kind.
//
// If there is such an order, this finds one: each relation holds in all of
// them.
//
// Thread safety: none.
//
// Cost: almost linear in the size of the tree and of the operands.
class LeafOrder {
 public:
  // The tree must outlive this, and not change any more.
  explicit LeafOrder(const PqTree* tree);

  // Has an operand be in the order of another one, if that can be.
  // REQUIRES: both are of equal length and stand side by side.
  void Align(const Operand& a, const Operand& b);

  // Returns all leaves.
  std::vector<int32_t> Get();

 private:
  using Pair = std::pair<int32_t, int32_t>;

  // Adds the pairs of children of two nodes of two trees that have the same
  // leaves, as far as is known yet. Returns false if that cannot be.
  bool AlignNodes(const OperandTree& a, const OperandTree& b, Pair nodes,
                  std::vector<Pair>* pairs);
  bool AlignDirections(const OperandTree& a, const OperandTree& b, Pair nodes,
                       std::vector<Pair>* pairs);
  bool AlignPermutations(const OperandTree& a, const OperandTree& b, Pair nodes,
                         std::vector<Pair>* pairs);

  const PqTree& tree_;
  // By node: which child of its parent it is.
  std::vector<int32_t> places_;
  NodeDirections directions_;
  NodePermutations permutations_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_LEAF_ORDER_H_
