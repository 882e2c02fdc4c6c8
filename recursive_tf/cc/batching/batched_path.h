#ifndef RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
#define RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/activations.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// Returns the invocations from activation `id` outwards. Branches are no steps
// of a path.
inline std::vector<Activation> StepsOfPath(const Plan& plan,
                                           const Activations& activations,
                                           int32_t id) {
  std::vector<Activation> steps;
  for (int32_t at = id; at != kNoActivation;) {
    // A call stands in the branch that makes it; its caller is around that.
    const BatchedActivation& activation = activations[at];
    at = activation.parent;
    const int32_t procedure =
        activations.frames().Outermost(activation.procedure);
    if (plan.procedures[procedure].is_branch) continue;
    Activation step;
    step.procedure = procedure;
    step.site = activation.site;
    step.ordinal = activation.row;
    steps.push_back(step);
  }
  return steps;
}

// Returns the SubGraph whose body activation `id` is in.
inline int32_t SubGraphOf(const Plan& plan, const Activations& activations,
                          int32_t id) {
  while (true) {
    const BatchedActivation& activation = activations[id];
    const int32_t procedure =
        activations.frames().Outermost(activation.procedure);
    if (!plan.procedures[procedure].is_branch) return procedure;
    id = activation.parent;
  }
}

// Returns such steps as FormatPath shows an invocation of the dataflow
// executor.
inline std::string FormatSteps(std::vector<Activation> steps, bool mapped,
                               const std::vector<std::string>& names) {
  for (size_t i = 0; i + 1 < steps.size(); ++i) steps[i].parent = &steps[i + 1];
  return FormatPath(steps.front(), mapped, names);
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_BATCHED_PATH_H_
