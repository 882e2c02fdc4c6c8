#ifndef RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/sub_frontiers.h"

namespace recursive_tf {

// Launches the block of whose sub-frontier the largest share is ready: if that
// is all of it, a shortest order begins like that (Gu et al. 2023, lemma 2.1).
// It sees a whole launch graph, so it is for rehearsals, and for what learns
// from them.
class SufficientPolicy : public Policy {
 public:
  // Both must outlive this.
  SufficientPolicy(const BlockOrder* order, const SubFrontiers* sub_frontiers)
      : order_(*order), sub_frontiers_(*sub_frontiers) {}

  // Returns how much of the sub-frontier of a block is ready, from 0 to 1.
  static double ReadyShare(const Frontier& frontier,
                           const SubFrontiers& sub_frontiers, int32_t block) {
    return static_cast<double>(frontier.count(block)) /
           sub_frontiers.count(block);
  }

  Choice Choose(const Frontier& frontier) const override {
    const int32_t block = LowestBlockWithLeast(
        frontier, order_,
        [&](int32_t b) { return -ReadyShare(frontier, sub_frontiers_, b); });
    return {block, kEveryDepth};
  }

 private:
  const BlockOrder& order_;
  const SubFrontiers& sub_frontiers_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_
