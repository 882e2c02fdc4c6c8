#ifndef RECURSIVE_TF_CC_BATCHING_BLOCK_ORDER_H_
#define RECURSIVE_TF_CC_BATCHING_BLOCK_ORDER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Ranks the blocks of a plan: a block that may lead to another one, and is not
// led to by it, has a lower rank. Blocks that lead to each other have the same.
//
// Who launches low ranks first waits for all that can still come. In a tree,
// every node is expanded before the leaves run, once, and these run before the
// first inner node does.
class BlockOrder {
 public:
  explicit BlockOrder(const Plan& plan);
  // Takes the rank of each block.
  explicit BlockOrder(std::vector<int32_t> ranks) : ranks_(std::move(ranks)) {}

  int32_t rank(int32_t block) const { return ranks_[block]; }
  const std::vector<int32_t>& ranks() const { return ranks_; }

  // Returns how far who runs `block` is then.
  Progress After(const Progress& before, int32_t block) const {
    return {rank(block), before.rank == rank(block) ? before.depth + 1 : 1};
  }

 private:
  std::vector<int32_t> ranks_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_BLOCK_ORDER_H_
