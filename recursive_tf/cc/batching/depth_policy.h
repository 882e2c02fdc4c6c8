#ifndef RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Launches one block at one depth, the least there is (TensorFlow Fold: Looks
// et al. 2017, section 2.2; ED-Batch, section 2), among those of the lowest
// rank.
class DepthPolicy : public Policy {
 public:
  // `order` must outlive this.
  explicit DepthPolicy(const BlockOrder* order) : order_(*order) {}

  Choice Choose(const Frontier& frontier) const override {
    const int32_t block = LowestBlockWithLeast(
        frontier, order_, [&](int32_t b) { return frontier.least_depth(b); });
    return {block, frontier.least_depth(block)};
  }

 private:
  const BlockOrder& order_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_
