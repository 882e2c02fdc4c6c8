#ifndef RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Launches one block at one depth, the least there is (TensorFlow Fold: Looks
// et al. 2017, section 2.2; ED-Batch, section 2).
class DepthPolicy : public Policy {
 public:
  Choice Choose(const Frontier& frontier,
                const std::vector<int32_t>& blocks) override {
    const int32_t block = BlockWithLeast(
        blocks, [&](int32_t b) { return frontier.least_depth(b); });
    return {block, frontier.least_depth(block)};
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_DEPTH_POLICY_H_
