// How the invocations of a flow came to be, and who waits (flow_steps.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/batched_path.h"
#include "recursive_tf/cc/batching/flow_steps.h"
#include "recursive_tf/cc/batching/wait_cycle.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

std::vector<PathStep> FlowSteps::StepsOf(int32_t id) const {
  const FlowInvocation& invocation = *table_[id];
  return StepsOfCallee(IdOf(invocation.parent),
                       {flow_.subgraph, invocation.site, invocation.row});
}

std::vector<PathStep> FlowSteps::StepsOfCallee(int32_t caller,
                                               PathStep callee) const {
  std::vector<PathStep> upward = {callee};
  const FlowInvocation* at = caller == kNoActivation ? nullptr : table_[caller];
  for (; at != nullptr; at = at->parent) {
    upward.push_back({flow_.subgraph, at->site, at->row});
  }
  return FromRoot(std::move(upward));
}

std::optional<WaitCycle> FlowSteps::FindCycle() const {
  if (num_alive() == 0) return std::nullopt;
  return FindWaitCycle(
      Waits(), [this](int32_t id) { return IdOf(table_[id]->parent); },
      [this](int32_t id) -> std::optional<int64_t> { return shared_[id].key; });
}

std::vector<WaitingCall> FlowSteps::Waits() const {
  std::vector<WaitingCall> waits;
  for (size_t i = 0; i < shared_.size(); ++i) {
    const FlowShared& asked = shared_[i];
    if (asked.has_ended) continue;
    const auto runner = static_cast<int32_t>(i);
    for (int32_t at = asked.last_waiter; at != FlowShared::kNoWaiter;
         at = waiters_[at].before) {
      const FlowWaiter& waiter = waiters_[at];
      // Who began it waits first.
      const bool is_first = waiter.before == FlowShared::kNoWaiter;
      if (is_first && waiter.by == table_[runner]->parent) continue;
      const PathStep front{flow_.subgraph, waiter.site, waiter.item};
      waits.push_back({waiter.by->id, front, runner, asked.key});
    }
  }
  return waits;
}

}  // namespace recursive_tf
