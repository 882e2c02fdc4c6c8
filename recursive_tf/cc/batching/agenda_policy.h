#ifndef RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Launches the block whose waiting activations have the least depth on average,
// for all of them (DyNet: Neubig et al. 2017, section 3; ED-Batch, section 2),
// among those of the lowest rank.
class AgendaPolicy : public Policy {
 public:
  // `order` must outlive this.
  explicit AgendaPolicy(const BlockOrder* order) : order_(*order) {}

  Choice Choose(const Frontier& frontier) const override {
    const int32_t block = LowestBlockWithLeast(
        frontier, order_, [&](int32_t b) { return frontier.mean_depth(b); });
    return {block, kEveryDepth};
  }

 private:
  const BlockOrder& order_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_
