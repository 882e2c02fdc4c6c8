#ifndef RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/sub_frontiers.h"

namespace recursive_tf {

// Launches the block of whose sub-frontier the largest share is ready: if that
// is all of it, a shortest order begins like that (Gu et al. 2023, lemma 2.1).
// It sees a whole launch graph, so it is for rehearsals, and for what learns
// from them.
class SufficientPolicy : public Policy {
 public:
  // `sub_frontiers` must outlive this.
  explicit SufficientPolicy(const SubFrontiers* sub_frontiers)
      : sub_frontiers_(*sub_frontiers) {}

  // Returns how much of the sub-frontier of a block is ready, from 0 to 1.
  static double ReadyShare(const Frontier& frontier,
                           const SubFrontiers& sub_frontiers, int32_t block) {
    return static_cast<double>(frontier.count(block)) /
           sub_frontiers.count(block);
  }

  Choice Choose(const Frontier& frontier) const override {
    int32_t best = kNoBlock;
    double most = 0;
    for (int32_t block = 0; block < frontier.num_blocks(); ++block) {
      if (frontier.count(block) == 0) continue;
      const double share = ReadyShare(frontier, sub_frontiers_, block);
      if (share <= most) continue;
      most = share;
      best = block;
    }
    return {best, kEveryDepth};
  }

 private:
  const SubFrontiers& sub_frontiers_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SUFFICIENT_POLICY_H_
