#ifndef RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Launches the block whose waiting activations have the least depth on average,
// for all of them (DyNet: Neubig et al. 2017, section 3; ED-Batch, section 2).
class AgendaPolicy : public Policy {
 public:
  Choice Choose(const Frontier& frontier,
                const std::vector<int32_t>& blocks) override {
    const int32_t block = BlockWithLeast(
        blocks, [&](int32_t b) { return frontier.mean_depth(b); });
    return {block, kEveryDepth};
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_AGENDA_POLICY_H_
