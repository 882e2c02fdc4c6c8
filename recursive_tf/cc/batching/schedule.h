#ifndef RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_
#define RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Which activations wait for which block, and which block is launched next:
// among those of the lowest rank, the one that the policy chooses.
class Schedule {
 public:
  // Both must outlive this.
  Schedule(const BlockOrder* order, Policy* policy, int32_t num_blocks)
      : order_(*order), policy_(*policy), frontier_(num_blocks) {}

  // Returns how far who runs `block` is then.
  Progress After(const Progress& before, int32_t block) const {
    const int32_t rank = order_.rank(block);
    return {rank, before.rank == rank ? before.depth + 1 : 1};
  }

  // Says that an activation waits for a block.
  void Add(int32_t id, const Progress& before, int32_t block) {
    frontier_.Add(block, After(before, block).depth, id);
  }

  bool empty() const { return frontier_.empty(); }

  // Returns the next block, and takes those that it is launched for.
  // REQUIRES: not empty().
  int32_t TakeNext(std::vector<int32_t>* activations) {
    const Choice choice = policy_.Choose(frontier_, LowestBlocks());
    *activations = frontier_.Take(choice.block, choice.depth);
    return choice.block;
  }

 private:
  // The blocks of the lowest rank that somebody waits for, in order.
  const std::vector<int32_t>& LowestBlocks() {
    lowest_blocks_.clear();
    for (int32_t block = 0; block < frontier_.num_blocks(); ++block) {
      if (frontier_.count(block) == 0) continue;
      if (!lowest_blocks_.empty()) {
        const int32_t least = order_.rank(lowest_blocks_.front());
        if (order_.rank(block) > least) continue;
        if (order_.rank(block) < least) lowest_blocks_.clear();
      }
      lowest_blocks_.push_back(block);
    }
    return lowest_blocks_;
  }

  const BlockOrder& order_;
  Policy& policy_;
  Frontier frontier_;
  std::vector<int32_t> lowest_blocks_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_
