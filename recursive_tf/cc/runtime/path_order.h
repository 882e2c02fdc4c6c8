#ifndef RECURSIVE_TF_CC_RUNTIME_PATH_ORDER_H_
#define RECURSIVE_TF_CC_RUNTIME_PATH_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {

// The path of an invocation as a value, which outlives its activation. Paths
// are ordered as a program that makes its calls one after the other would reach
// them: by row, then by call site and ordinal at each level, callers first.
class PathOrder {
 public:
  // Cost: O(depth), in time and memory.
  static PathOrder Of(const Activation& activation) {
    PathOrder path;
    path.steps_.resize(activation.depth);
    size_t i = path.steps_.size();
    for (const Activation* a = &activation; i > 0; a = a->parent) {
      if (a->site == kSharedSite) continue;
      path.steps_[--i] = Step{a->site, a->ordinal};
    }
    return path;
  }

  friend bool operator<(const PathOrder& a, const PathOrder& b) {
    return std::lexicographical_compare(a.steps_.begin(), a.steps_.end(),
                                        b.steps_.begin(), b.steps_.end());
  }

 private:
  struct Step {
    int32_t site;
    int32_t ordinal;

    friend bool operator<(const Step& a, const Step& b) {
      return std::tie(a.site, a.ordinal) < std::tie(b.site, b.ordinal);
    }
  };

  std::vector<Step> steps_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_PATH_ORDER_H_
