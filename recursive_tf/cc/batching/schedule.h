#ifndef RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_
#define RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Which activations wait for which block, and which block is launched next.
class Schedule {
 public:
  // Both must outlive this.
  Schedule(const BlockOrder* order, const Policy* policy, int32_t num_blocks)
      : order_(*order), policy_(*policy), frontier_(num_blocks) {}

  // Returns how far who runs `block` is then.
  Progress After(const Progress& before, int32_t block) const {
    return order_.After(before, block);
  }

  // Says that an activation, which has come so far, waits for a block.
  void Add(int32_t id, const Progress& progress, int32_t call_depth,
           int32_t block) {
    frontier_.Add(block, {id, After(progress, block).depth, call_depth});
  }

  // Says that so many wait for a block, of which `waits_at` returns each, in
  // order, with what Add takes of it.
  template <typename WaitsAt>
  void AddAll(int32_t block, size_t count, const WaitsAt& waits_at) {
    frontier_.AddAll(block, count, [&](size_t i) {
      const auto& waits = waits_at(i);
      return Waiting{waits.id, After(waits.progress, block).depth,
                     waits.call_depth};
    });
  }

  bool empty() const { return frontier_.empty(); }

  // Returns the next block, and takes those that it is launched for.
  // REQUIRES: not empty().
  int32_t TakeNext(std::vector<int32_t>* activations) {
    const Choice choice = policy_.Choose(frontier_);
    const std::vector<int32_t>& taken =
        frontier_.Take(choice.block, choice.depth);
    activations->assign(taken.begin(), taken.end());
    return choice.block;
  }

 private:
  const BlockOrder& order_;
  const Policy& policy_;
  Frontier frontier_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SCHEDULE_H_
