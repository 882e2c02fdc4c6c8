#ifndef RECURSIVE_TF_CC_BATCHING_MAKE_STEPS_H_
#define RECURSIVE_TF_CC_BATCHING_MAKE_STEPS_H_

#include <memory>
#include <optional>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Returns the steps of a plan: the quick ones if it is a flow. Those that are
// recorded go from activation to activation; `recorder` is null if they are
// not. All pointers must outlive them.
inline std::unique_ptr<Steps> MakeSteps(const Plan* plan,
                                        const std::optional<Flow>& flow,
                                        const BlockOrder* order,
                                        const Policy* policy, Host* host,
                                        ActivationLimits limits,
                                        LaunchRecorder* recorder) {
  if (flow.has_value() && recorder == nullptr) {
    return std::make_unique<FlowSteps>(plan, &*flow, order, policy, host,
                                       limits);
  }
  auto steps = std::make_unique<LockStep>(plan, order, policy, host, limits);
  if (recorder != nullptr) steps->set_recorder(recorder);
  return steps;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_MAKE_STEPS_H_
