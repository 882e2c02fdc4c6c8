#include "recursive_tf/cc/batching/flow_deaths.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_values.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {
namespace {

using Kind = FlowSource::Kind;

// Finds them for all values of a flow.
class DeathFinder {
 public:
  DeathFinder(const std::vector<FlowGuards>& guards, Flow* flow)
      : guards_(guards),
        flow_(*flow),
        end_(flow->stages.size()),
        values_(flow, &guards) {
    FindReach();
    FindReads();
  }

  void Find() {
    for (size_t v = 0; v < values_.size(); ++v) {
      if (is_read_[v]) SetRead(values_[v].source);
    }
    for (size_t stage = 0; stage < end_; ++stage) {
      ForEachEdge(&flow_, stage,
                  [&](FlowEdge* edge) { SetDeaths(stage, edge); });
    }
    for (size_t stage = 0; stage < end_; ++stage) FindLastReads(stage);
    SetEnd();
    for (size_t stage = 0; stage < end_; ++stage) {
      ForEachEdge(&flow_, stage,
                  [&](FlowEdge* edge) { LeaveOutReturns(edge); });
    }
  }

 private:
  using Set = std::vector<bool>;

  size_t Index(int32_t stage) const {
    return stage == kEndOfFlow ? end_ : static_cast<size_t>(stage);
  }

  // Finds from which stages which come later, or at the end.
  void FindReach() {
    reach_.assign(end_, Set(end_ + 1, false));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t stage = 0; stage < end_; ++stage) {
        ForEachEdge(&flow_, stage, [&](const FlowEdge* edge) {
          const size_t next = Index(edge->to);
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
    if (!flow_.is_shared) ReadAllThatIsAsked();
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

  // An invocation gives its caller all results, and returns after the call's
  // stage is left: what nobody reads dies after that.
  void ReadAllThatIsAsked() {
    for (size_t v = 0; v < values_.size(); ++v) {
      const auto& [source, maker] = values_[v];
      if (source.kind != Kind::kCall ||
          !FlowValues::MayAsk(flow_.calls[source.of])) {
        continue;
      }
      ReadValue(v, Index(flow_.stages[maker].next.to));
    }
  }

  void ReadAt(size_t index) {
    const FlowStage& stage = flow_.stages[index];
    if (stage.returns_to != kNoCall) {
      ReadReturned(stage.returns_to, stage.branch, index);
    }
    for (const auto& input : stage.inputs) ReadAll(input, index);
    for (const FlowListOutput& list : stage.list_outputs) {
      if (list.count.of != static_cast<int32_t>(index)) Read(list.count, index);
    }
    for (const FlowPush& push : stage.pushes) {
      Read(push.index, index);
      Read(push.value, index);
    }
    for (const int32_t each : stage.calls) {
      const FlowCall& call = flow_.calls[each];
      if (call.selector.has_value()) Read(*call.selector, index);
      for (size_t way = 0; way < call.branches.size(); ++way) {
        ReadFor(each, static_cast<int32_t>(way), index);
      }
    }
  }

  // What a branch reads when it is taken.
  void ReadFor(int32_t call, int32_t way, size_t stage) {
    const FlowBranch& branch = flow_.calls[call].branches[way];
    if (branch.ask.has_value()) {
      if (branch.ask->key.has_value()) Read(*branch.ask->key, stage);
      ReadAll(branch.ask->arguments, stage);
    } else if (!branch.entry.has_value()) {
      ReadReturned(call, way, stage);
    }
  }

  // What is held when a branch returns.
  void ReadReturned(int32_t call, int32_t way, size_t stage) {
    const FlowCall& returned = flow_.calls[call];
    for (int32_t i = 0; i < returned.num_results; ++i) {
      if (values_.IsOfBranches({Kind::kCall, returned.cell, i, call})) continue;
      Read(returned.branches[way].results[i], stage);
    }
  }

  void ReadAll(const std::vector<FlowSource>& sources, size_t stage) {
    for (const FlowSource& source : sources) Read(source, stage);
  }

  // Says that a stage reads a source.
  void Read(const FlowSource& source, size_t stage) {
    for (const size_t value : values_.Find(source)) ReadValue(value, stage);
  }

  void ReadValue(size_t value, size_t stage) {
    live_[stage][value] = true;
    is_read_[value] = true;
  }

  // Returns whether a value may be there when a stage reads.
  bool CanBeAt(size_t value, size_t stage) const {
    const int32_t maker = values_[value].maker;
    return maker == kEndOfFlow || static_cast<size_t>(maker) == stage ||
           reach_[maker][stage];
  }

  void SetRead(const FlowSource& source) {
    if (source.kind == Kind::kCall) {
      if (values_.IsOfBranches(source)) return;
      flow_.calls[source.of].held_results.push_back(source.index);
    } else if (source.of == kEndOfFlow) {
      flow_.read_arguments.push_back(source.cell);
    } else {
      flow_.stages[source.of].read_outputs.push_back(source.index);
    }
  }

  // Returns whether a value dies when an invocation leaves a stage by an edge.
  bool DiesOn(size_t value, size_t stage, const FlowEdge& edge) const {
    if (!is_read_[value] || !CanBeAt(value, stage)) return false;
    if (!live_[stage][value] && !IsMadeAt(value, stage)) return false;
    const size_t to = Index(edge.to);
    return !live_[to][value] || !CanBeAt(value, to);
  }

  bool IsMadeAt(size_t value, size_t stage) const {
    return values_[value].maker == static_cast<int32_t>(stage);
  }

  void SetDeaths(size_t stage, FlowEdge* edge) const {
    edge->id = flow_.num_edges++;
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!DiesOn(v, stage, *edge)) continue;
      const FlowSource& source = values_[v].source;
      if (IsMadeAt(v, stage)) {
        edge->own_deaths.push_back(source.index);
      } else {
        edge->deaths.push_back(DeathOf(v, guards_[stage]));
      }
    }
  }

  FlowDeath DeathOf(size_t value, const FlowGuards& taken) const {
    const FlowSource& source = values_[value].source;
    return {
        source, values_.GuardsOf(value, taken),
        source.kind == Kind::kCall && flow_.calls[source.of].list.has_value()};
  }

  // Finds which inputs of a block all that take them read last, whichever way
  // they go. There may be more or fewer items of a list than who take them.
  void FindLastReads(size_t index) {
    FlowStage& stage = flow_.stages[index];
    Set taken(values_.size(), false);
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      if (stage.IsListInput(i)) continue;
      for (size_t part = 0; part < stage.inputs[i].size(); ++part) {
        const FlowSource& source = stage.inputs[i][part];
        const std::vector<size_t> values = values_.Find(source);
        const bool are_last =
            !values_.MayBeKept(source) &&
            std::all_of(values.begin(), values.end(), [&](size_t v) {
              bool dies = !taken[v];
              ForEachEdge(&flow_, index, [&](const FlowEdge* edge) {
                dies = dies && DiesOn(v, index, *edge);
              });
              return dies;
            });
        if (!are_last) continue;
        stage.last_reads.emplace_back(static_cast<int32_t>(i),
                                      static_cast<int32_t>(part));
        for (const size_t v : values) {
          taken[v] = true;
          ForEachEdge(&flow_, index, [&](FlowEdge* edge) {
            LeaveOut(values_[v].source, &edge->deaths);
          });
        }
      }
    }
  }

  static void LeaveOut(const FlowSource& source,
                       std::vector<FlowDeath>* deaths) {
    const auto is_of_source = [&source](const FlowDeath& death) {
      return death.source == source;
    };
    deaths->erase(std::remove_if(deaths->begin(), deaths->end(), is_of_source),
                  deaths->end());
  }

  // A result that is no other's either is not given up and held again.
  void SetEnd() {
    std::vector<int> num_results(values_.size(), 0);
    for (const FlowSource& result : flow_.results) {
      for (const size_t v : values_.Find(result)) ++num_results[v];
    }
    Set is_kept(values_.size(), false);
    for (size_t i = 0; i < flow_.results.size(); ++i) {
      const std::vector<size_t> values = values_.Find(flow_.results[i]);
      const bool is_alone =
          !values_.MayBeKept(flow_.results[i]) &&
          std::all_of(values.begin(), values.end(),
                      [&](size_t v) { return num_results[v] == 1; });
      if (!is_alone) flow_.held_results.push_back(static_cast<int32_t>(i));
      for (const size_t v : values) is_kept[v] = is_kept[v] || is_alone;
    }
    for (size_t v = 0; v < values_.size(); ++v) {
      if (!is_read_[v] || !live_[end_][v] || is_kept[v]) continue;
      flow_.deaths_at_end.push_back(DeathOf(v, {}));
    }
  }

  // Leads an edge past stages in which nothing happens.
  void LeaveOutReturns(FlowEdge* edge) const {
    while (edge->to != kEndOfFlow) {
      const FlowStage& stage = flow_.stages[edge->to];
      if (stage.returns_to == kNoCall || !stage.next.deaths.empty()) return;
      if (!flow_.calls[stage.returns_to].held_results.empty()) return;
      edge->to = stage.next.to;
    }
  }

  const std::vector<FlowGuards>& guards_;
  Flow& flow_;
  // The index of the end, behind all stages.
  const size_t end_;
  const FlowValues values_;
  // By stage: which come later.
  std::vector<Set> reach_;
  // By stage, and the end: what is read there or later.
  std::vector<Set> live_;
  Set is_read_;
};

}  // namespace

void FindFlowDeaths(const std::vector<FlowGuards>& guards, Flow* flow) {
  DeathFinder(guards, flow).Find();
}

}  // namespace recursive_tf
