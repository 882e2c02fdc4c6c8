#ifndef RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
#define RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// Returns the path of activation `id`. Branches are no steps of it.
inline std::vector<PathStep> StepsOfPath(const Plan& plan,
                                         const Activations& activations,
                                         int32_t id) {
  std::vector<PathStep> steps;
  for (int32_t at = id; at != kNoActivation;) {
    // A call stands in the branch that makes it; its caller is around that.
    const BatchedActivation& activation = activations[at];
    at = activation.parent;
    const int32_t procedure =
        activations.in_place().Outermost(activation.procedure);
    if (plan.procedures[procedure].is_branch) continue;
    steps.push_back({procedure, activation.site, activation.row});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Returns the SubGraph whose body activation `id` is in.
inline int32_t SubGraphOf(const Plan& plan, const Activations& activations,
                          int32_t id) {
  while (true) {
    const BatchedActivation& activation = activations[id];
    const int32_t procedure =
        activations.in_place().Outermost(activation.procedure);
    if (!plan.procedures[procedure].is_branch) return procedure;
    id = activation.parent;
  }
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
