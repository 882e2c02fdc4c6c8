#ifndef RECURSIVE_TF_CC_BATCHING_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/frontier.h"

namespace recursive_tf {

// What to launch next: a block, for all that wait for it, or only for those at
// one depth.
struct Choice {
  int32_t block = 0;
  int32_t depth = kEveryDepth;
};

// Returns the first of `blocks` for which `key` is least.
template <typename Key>
int32_t BlockWithLeast(const std::vector<int32_t>& blocks, const Key& key) {
  return *std::min_element(
      blocks.begin(), blocks.end(),
      [&key](int32_t a, int32_t b) { return key(a) < key(b); });
}

// Decides what is launched next. The same questions get the same answers.
class Policy {
 public:
  virtual ~Policy() = default;

  // Chooses one of `blocks`: those of the lowest rank that somebody waits for,
  // in order. The rest of the frontier may be looked at too.
  virtual Choice Choose(const Frontier& frontier,
                        const std::vector<int32_t>& blocks) = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_POLICY_H_
