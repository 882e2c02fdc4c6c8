#ifndef RECURSIVE_TF_CC_BATCHING_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_POLICY_H_

#include <cstdint>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// What to launch next: a block, for all that wait for it, or only for those at
// one depth.
struct Choice {
  int32_t block = 0;
  int32_t depth = kEveryDepth;
};

// Decides what is launched next. It knows nothing of what it was asked before.
//
// Thread safety: runs may share a policy.
class Policy {
 public:
  virtual ~Policy() = default;

  // Chooses a block that somebody waits for. REQUIRES: there is one.
  virtual Choice Choose(const Frontier& frontier) const = 0;
};

// Returns, of the blocks of the lowest rank that somebody waits for, the first
// for which `key` is least. Who launches low ranks first waits for all that can
// still come.
template <typename Key>
int32_t LowestBlockWithLeast(const Frontier& frontier, const BlockOrder& order,
                             const Key& key) {
  int32_t best = kNoBlock;
  for (int32_t block = 0; block < frontier.num_blocks(); ++block) {
    if (frontier.count(block) == 0) continue;
    if (best != kNoBlock) {
      if (order.rank(block) > order.rank(best)) continue;
      const bool is_lower = order.rank(block) < order.rank(best);
      if (!is_lower && key(block) >= key(best)) continue;
    }
    best = block;
  }
  return best;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_POLICY_H_
