#ifndef RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
#define RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// Returns the activation of the invocation that `id` is a part of: a branch may
// have one of its own.
inline int32_t InvocationOf(const Plan& plan, const Activations& activations,
                            int32_t id) {
  const InPlace& in_place = activations.in_place();
  while (plan.procedures[in_place.Outermost(activations[id].procedure)]
             .is_branch) {
    id = activations[id].parent;
  }
  return id;
}

// Returns the SubGraph whose body activation `id` is in.
inline int32_t SubGraphOf(const Plan& plan, const Activations& activations,
                          int32_t id) {
  const int32_t invocation = InvocationOf(plan, activations, id);
  return activations.in_place().Outermost(activations[invocation].procedure);
}

// Returns a path from the steps of it that have an activation, the innermost
// first. A row of the root call that only calls has none: what it calls has its
// row.
inline std::vector<PathStep> FromRoot(std::vector<PathStep> upward) {
  if (upward.back().procedure != kRootProcedure) {
    const int32_t row = std::exchange(upward.back().ordinal, 0);
    upward.push_back({kRootProcedure, /*site=*/0, row});
  }
  std::reverse(upward.begin(), upward.end());
  return upward;
}

// Returns the path of an invocation that `caller` makes, which may be none.
// Branches are no steps of it.
inline std::vector<PathStep> StepsOfCall(const Plan& plan,
                                         const Activations& activations,
                                         int32_t caller, PathStep callee) {
  std::vector<PathStep> steps = {callee};
  while (caller != kNoActivation) {
    // A call stands in the branch that makes it; its caller is around that.
    const int32_t id = InvocationOf(plan, activations, caller);
    const BatchedActivation& activation = activations[id];
    steps.push_back(
        {SubGraphOf(plan, activations, id), activation.site, activation.row});
    caller = activation.parent;
  }
  return FromRoot(std::move(steps));
}

// Returns the path of the invocation that activation `id` is a part of.
inline std::vector<PathStep> StepsOfPath(const Plan& plan,
                                         const Activations& activations,
                                         int32_t id) {
  const int32_t invocation = InvocationOf(plan, activations, id);
  const BatchedActivation& activation = activations[invocation];
  return StepsOfCall(plan, activations, activation.parent,
                     {SubGraphOf(plan, activations, invocation),
                      activation.site, activation.row});
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
