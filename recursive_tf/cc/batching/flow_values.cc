#include "recursive_tf/cc/batching/flow_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/flow.h"

namespace recursive_tf {
namespace {

bool Includes(const FlowGuards& guards, FlowDeath::Guard guard) {
  return std::find(guards.begin(), guards.end(), guard) != guards.end();
}

}  // namespace

FlowValues::FlowValues(const Flow* flow, const std::vector<FlowGuards>* guards)
    : flow_(*flow), guards_(*guards), stage_of_call_(flow->calls.size()) {
  const auto num_stages = static_cast<int32_t>(flow_.stages.size());
  for (int32_t stage = 0; stage < num_stages; ++stage) {
    for (const int32_t call : flow_.stages[stage].calls) {
      stage_of_call_[call] = stage;
    }
  }
  for (int32_t i = 0; i < flow_.num_arguments; ++i) {
    values_.push_back(
        {{FlowSource::Kind::kCell, i, 0, kEndOfFlow}, kEndOfFlow});
  }
  for (int32_t stage = 0; stage < num_stages; ++stage) {
    const FlowStage& made = flow_.stages[stage];
    for (int32_t i = 0; i < made.num_outputs; ++i) {
      values_.push_back(
          {{FlowSource::Kind::kCell, made.CellOf(i), i, stage}, stage});
    }
    for (const int32_t call : made.calls) AddResults(call, stage);
  }
}

void FlowValues::AddResults(int32_t call, int32_t stage) {
  const FlowCall& added = flow_.calls[call];
  const bool is_given = !flow_.is_shared && MayAsk(added);
  for (int32_t i = 0; i < added.num_results; ++i) {
    const FlowSource result{FlowSource::Kind::kCall, added.cell, i, call};
    if (is_given || !IsOfBranches(result)) values_.push_back({result, stage});
  }
}

std::vector<size_t> FlowValues::Find(const FlowSource& source) const {
  std::vector<size_t> found;
  for (size_t v = 0; v < values_.size(); ++v) {
    if (values_[v].source == source) found.push_back(v);
  }
  if (source.kind != FlowSource::Kind::kCall) return found;
  if (!IsOfBranches(source)) return found;
  for (const FlowBranch& branch : flow_.calls[source.of].branches) {
    if (branch.ask.has_value()) continue;
    const std::vector<size_t> more = Find(branch.results[source.index]);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

bool FlowValues::MayBeKept(const FlowSource& source) const {
  if (source.kind == FlowSource::Kind::kPrologue) return true;
  if (source.kind != FlowSource::Kind::kCall) return false;
  const FlowCall& call = flow_.calls[source.of];
  if (flow_.is_shared && MayAsk(call)) return true;
  if (!IsOfBranches(source)) return false;
  return std::any_of(call.branches.begin(), call.branches.end(),
                     [&](const FlowBranch& branch) {
                       return !branch.ask &&
                              MayBeKept(branch.results[source.index]);
                     });
}

bool FlowValues::IsOfBranches(const FlowSource& result) const {
  const std::vector<FlowBranch>& branches = flow_.calls[result.of].branches;
  for (size_t way = 0; way < branches.size(); ++way) {
    if (branches[way].ask.has_value()) continue;
    const FlowSource& source = branches[way].results[result.index];
    if (source.kind == FlowSource::Kind::kPrologue) continue;
    if (!IsWithin(source, {result.cell, WayOf(static_cast<int32_t>(way))})) {
      return false;
    }
  }
  return true;
}

bool FlowValues::IsWithin(const FlowSource& source,
                          FlowDeath::Guard branch) const {
  const int32_t maker = source.kind == FlowSource::Kind::kCall
                            ? stage_of_call_[source.of]
                            : source.of;
  return maker != kEndOfFlow && Includes(guards_[maker], branch);
}

bool FlowValues::MayAsk(const FlowCall& call) {
  return std::any_of(
      call.branches.begin(), call.branches.end(),
      [](const FlowBranch& branch) { return branch.ask.has_value(); });
}

FlowGuards FlowValues::GuardsOf(size_t value, const FlowGuards& taken) const {
  const auto& [source, maker] = values_[value];
  if (maker == kEndOfFlow) return {};
  FlowGuards made = guards_[maker];
  if (source.kind == FlowSource::Kind::kCall) AddGuards(source, &made);
  FlowGuards guards;
  for (const FlowDeath::Guard& guard : made) {
    if (!Includes(taken, guard)) guards.push_back(guard);
  }
  return guards;
}

// A result of a shared invocation does not die; and what a branch found in
// itself is another value.
void FlowValues::AddGuards(const FlowSource& result, FlowGuards* guards) const {
  const FlowCall& call = flow_.calls[result.of];
  if (!MayAsk(call)) return;
  if (flow_.is_shared) {
    guards->push_back({result.cell, kAnyBranch});
  } else if (call.selector.has_value() && IsOfBranches(result)) {
    guards->push_back({result.cell, kAnother});
  }
}

}  // namespace recursive_tf
