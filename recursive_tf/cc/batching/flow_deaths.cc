#include "recursive_tf/cc/batching/flow_deaths.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/shared_flow.h"

namespace recursive_tf {
namespace {

using Kind = FlowSource::Kind;
using Guards = std::vector<FlowDeath::Guard>;

class DeathFinder {
 public:
  DeathFinder(const std::vector<Guards>& guards, SharedFlow* flow)
      : guards_(guards), flow_(*flow), end_(flow->stages.size()) {
    FindValues();
    FindReach();
    FindReads();
  }

  void Find() {
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!is_read_[v]) continue;
      const FlowSource& value = values_[v];
      if (value.of == kEndOfFlow) {
        flow_.read_arguments.push_back(value.cell);
      } else {
        flow_.stages[value.of].read_outputs.push_back(value.index);
      }
      if (live_[end_][v]) {
        flow_.deaths_at_end.push_back({value, GuardsOf(v, {})});
      }
    }
    for (size_t stage = 0; stage < end_; ++stage) {
      SetDeaths(stage, &flow_.stages[stage].next);
      for (const int32_t call : flow_.stages[stage].calls) {
        for (FlowBranch& branch : flow_.calls[call].branches) {
          if (branch.entry.has_value()) SetDeaths(stage, &*branch.entry);
        }
      }
    }
  }

 private:
  using Set = std::vector<bool>;

  void FindValues() {
    for (int32_t i = 0; i < flow_.num_arguments; ++i) {
      values_.push_back({Kind::kCell, i, 0, kEndOfFlow});
    }
    for (size_t stage = 0; stage < end_; ++stage) {
      for (int32_t i = 0; i < flow_.stages[stage].num_outputs; ++i) {
        values_.push_back({Kind::kCell, flow_.stages[stage].cell, i,
                           static_cast<int32_t>(stage)});
      }
    }
  }

  size_t Index(int32_t stage) const {
    return stage == kEndOfFlow ? end_ : static_cast<size_t>(stage);
  }

  template <typename See>
  void ForEachNext(size_t stage, const See& see) const {
    see(Index(flow_.stages[stage].next.to));
    for (const int32_t call : flow_.stages[stage].calls) {
      for (const FlowBranch& branch : flow_.calls[call].branches) {
        if (branch.entry.has_value()) see(Index(branch.entry->to));
      }
    }
  }

  // Finds from which stages which come later, or at the end.
  void FindReach() {
    reach_.assign(end_, Set(end_ + 1, false));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t stage = 0; stage < end_; ++stage) {
        ForEachNext(stage, [&](size_t next) {
          changed |= Include(stage, next);
          for (size_t later = 0; next < end_ && later <= end_; ++later) {
            if (reach_[next][later]) changed |= Include(stage, later);
          }
        });
      }
    }
  }

  bool Include(size_t stage, size_t later) {
    const bool is_new = !reach_[stage][later];
    reach_[stage][later] = true;
    return is_new;
  }

  // Finds for each stage, and the end, what is read there or later.
  void FindReads() {
    is_read_.assign(values_.size(), false);
    live_.assign(end_ + 1, Set(values_.size(), false));
    for (const FlowSource& result : flow_.results) Read(result, end_);
    for (size_t stage = 0; stage < end_; ++stage) ReadAt(stage);
    std::vector<Set> read_at = live_;
    for (size_t stage = 0; stage < end_; ++stage) {
      for (size_t later = 0; later <= end_; ++later) {
        if (!reach_[stage][later]) continue;
        for (size_t v = 0; v < values_.size(); ++v) {
          if (read_at[later][v]) live_[stage][v] = true;
        }
      }
    }
  }

  void ReadAt(size_t index) {
    const FlowStage& stage = flow_.stages[index];
    for (const std::vector<FlowSource>& input : stage.inputs) {
      for (const FlowSource& source : input) Read(source, index);
    }
    for (const FlowPush& push : stage.pushes) {
      Read(push.index, index);
      Read(push.value, index);
    }
    for (const int32_t each : stage.calls) {
      const FlowCall& call = flow_.calls[each];
      if (call.selector.has_value()) Read(*call.selector, index);
      for (const FlowBranch& branch : call.branches) {
        if (!branch.ask.has_value()) continue;
        Read(branch.ask->key, index);
        for (const FlowSource& source : branch.ask->arguments) {
          Read(source, index);
        }
      }
    }
  }

  // Says that a stage reads a source.
  void Read(const FlowSource& source, size_t stage) {
    const Set read = ValuesOf(source);
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!read[v]) continue;
      live_[stage][v] = true;
      is_read_[v] = true;
    }
  }

  // Returns the values that a source may be.
  Set ValuesOf(const FlowSource& source) {
    if (source.kind == Kind::kCall) return ResultsOf(source);
    Set found(values_.size(), false);
    if (source.kind != Kind::kCell) return found;
    for (size_t v = 0; v < values_.size(); ++v) {
      const FlowSource& value = values_[v];
      found[v] = value.of == source.of && value.index == source.index &&
                 value.cell == source.cell;
    }
    return found;
  }

  // The same of a result of a call: what any of its branches gives. That of one
  // call may be the result of one before, and so on: each is looked at once.
  const Set& ResultsOf(const FlowSource& source) {
    const auto known = results_.find({source.of, source.index});
    if (known != results_.end()) return known->second;
    Set found(values_.size(), false);
    for (const FlowBranch& branch : flow_.calls[source.of].branches) {
      if (branch.ask.has_value()) continue;
      const Set of_branch = ValuesOf(branch.results[source.index]);
      for (size_t v = 0; v < values_.size(); ++v) {
        if (of_branch[v]) found[v] = true;
      }
    }
    return results_[{source.of, source.index}] = std::move(found);
  }

  // Returns whether a value may be there when a stage reads.
  bool CanBeAt(size_t value, size_t stage) const {
    const int32_t maker = values_[value].of;
    return maker == kEndOfFlow || static_cast<size_t>(maker) == stage ||
           reach_[maker][stage];
  }

  void SetDeaths(size_t stage, FlowEdge* edge) const {
    edge->id = flow_.num_edges++;
    const size_t to = Index(edge->to);
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!is_read_[v] || !CanBeAt(v, stage)) continue;
      const bool is_made_here = values_[v].of == static_cast<int32_t>(stage);
      if (!live_[stage][v] && !is_made_here) continue;
      if (live_[to][v] && CanBeAt(v, to)) continue;
      if (is_made_here) {
        edge->own_deaths.push_back(values_[v].index);
      } else {
        edge->deaths.push_back({values_[v], GuardsOf(v, guards_[stage])});
      }
    }
  }

  // Returns which branches have to have been taken for a value to be there,
  // without those that were.
  Guards GuardsOf(size_t value, const Guards& taken) const {
    const int32_t maker = values_[value].of;
    if (maker == kEndOfFlow) return {};
    Guards guards;
    for (const FlowDeath::Guard& guard : guards_[maker]) {
      bool is_around = false;
      for (const FlowDeath::Guard& around : taken) {
        is_around |= around.cell == guard.cell && around.way == guard.way;
      }
      if (!is_around) guards.push_back(guard);
    }
    return guards;
  }

  const std::vector<Guards>& guards_;
  SharedFlow& flow_;
  // The index of the end, behind all stages.
  const size_t end_;
  // Arguments, and outputs of blocks.
  std::vector<FlowSource> values_;
  // By stage: which come later.
  std::vector<Set> reach_;
  // By stage, and the end: what is read there or later.
  std::vector<Set> live_;
  Set is_read_;
  // By call and result: which values it may be.
  std::map<std::pair<int32_t, int32_t>, Set> results_;
};

}  // namespace

void FindFlowDeaths(const std::vector<std::vector<FlowDeath::Guard>>& guards,
                    SharedFlow* flow) {
  DeathFinder(guards, flow).Find();
}

}  // namespace recursive_tf
