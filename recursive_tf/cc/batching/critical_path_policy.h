#ifndef RECURSIVE_TF_CC_BATCHING_CRITICAL_PATH_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_CRITICAL_PATH_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Launches the block of the lowest rank for which the most activations wait
// that have the farthest to go: each has as many returns before it as calls are
// around it, which are the path to the end that no policy can make shorter. So
// long paths do not wait, and those that have time are joined by others.
class CriticalPathPolicy : public Policy {
 public:
  // `order` must outlive this.
  explicit CriticalPathPolicy(const BlockOrder* order) : order_(*order) {}

  Choice Choose(const Frontier& frontier) const override {
    const int32_t block = LowestBlockWithLeast(
        frontier, order_, [&](int32_t b) { return -frontier.urgency(b); });
    return {block, kEveryDepth};
  }

 private:
  const BlockOrder& order_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_CRITICAL_PATH_POLICY_H_
