#include "recursive_tf/cc/batching/flow.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/flow_deaths.h"
#include "recursive_tf/cc/batching/in_place.h"
#include "recursive_tf/cc/batching/pass_through.h"
#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {
namespace {

using Kind = FlowSource::Kind;

// Finding deaths takes the square of them, and a branch in a branch a frame of
// the stack. Vertex functions have a few.
constexpr size_t kMostStages = 128;
constexpr size_t kMostCalls = 256;

// Puts a flow together, procedure by procedure.
class FlowMaker {
 public:
  explicit FlowMaker(const Plan& plan)
      : plan_(plan), pass_through_(plan), in_place_(plan) {}

  // Returns whether the plan is a flow.
  bool Make() {
    const CallSite& root = pass_through_.root_call();
    flow_.subgraph = root.branches.front().procedure;
    flow_.is_shared = IsFront(flow_.subgraph);
    const int32_t body = BodyOf(flow_.subgraph);
    if (flow_.is_shared && !in_place_.RunsInPlace(body)) return false;
    const PlannedProcedure& procedure = plan_.procedures[body];
    if (procedure.stages.empty()) return false;
    const auto of_root = [](Source source) -> FlowSource {
      if (source.of_prologue()) return OfPrologue(source);
      return {Kind::kRoot, 0, source.slot, 0};
    };
    flow_.root = AskOf(root.site, root.branches.front(), of_root);
    flow_.num_arguments = procedure.num_arguments;
    flow_.num_cells = procedure.num_arguments;
    std::vector<FlowSource> arguments;
    for (int32_t i = 0; i < procedure.num_arguments; ++i) {
      arguments.push_back({Kind::kCell, i, 0, kEndOfFlow});
    }
    if (!Add(body, arguments, kEndOfFlow, {}, &flow_.results)) return false;
    if (!is_whole_) return false;
    FindFlowDeaths(guards_, &flow_);
    return true;
  }

  Flow Take() { return std::move(flow_); }

 private:
  using Guards = std::vector<FlowDeath::Guard>;

  // A procedure that is added, and where its slots are found.
  struct Adding {
    const PlannedProcedure* procedure;
    std::vector<std::optional<FlowSource>> slots;
    int32_t first_stage;
    const Guards* guards;

    bool IsList(Source source) const {
      return procedure->ListAt(source) != nullptr;
    }
  };

  // A call that is added.
  struct Place {
    int32_t call;
    // Whether its stage makes no other.
    bool is_alone;
    // The stage after that.
    int32_t after;
  };

  bool IsFront(int32_t procedure) const {
    return pass_through_[procedure].kind == PassThrough::Kind::kAsks;
  }

  int32_t BodyOf(int32_t subgraph) const {
    return IsFront(subgraph) ? pass_through_[subgraph].body->procedure
                             : subgraph;
  }

  static FlowSource OfPrologue(Source source) {
    return {Kind::kPrologue, 0, source.prologue_output(), 0};
  }

  // Lists are only where FindList looks for them.
  FlowSource Find(const Adding& adding, Source source) {
    if (source.of_prologue()) return OfPrologue(source);
    is_whole_ = is_whole_ && !adding.IsList(source);
    return FindList(adding, source);
  }

  FlowSource FindList(const Adding& adding, Source source) {
    const std::optional<FlowSource>& found = adding.slots[source.slot];
    is_whole_ = is_whole_ && found.has_value();
    return found.value_or(FlowSource());
  }

  std::vector<FlowSource> FindAll(const Adding& adding,
                                  const std::vector<Source>& sources) {
    std::vector<FlowSource> found;
    for (const Source source : sources) found.push_back(Find(adding, source));
    return found;
  }

  int32_t NumResults(const Branch& branch) const {
    const auto& outputs = plan_.procedures[branch.procedure].outputs;
    return static_cast<int32_t>(outputs.size());
  }

  // Returns what a call of the SubGraph asks for, whose arguments `find` finds.
  template <typename FindSource>
  FlowAsk AskOf(int32_t site, const Branch& called,
                const FindSource& find) const {
    FlowAsk ask{site, std::nullopt, {}};
    if (!flow_.is_shared) {
      for (const Source source : called.arguments) {
        ask.arguments.push_back(find(source));
      }
      return ask;
    }
    const PassThrough::Procedure& front = pass_through_[flow_.subgraph];
    ask.key = find(called.arguments[front.key_argument]);
    for (const Source source : front.body->arguments) {
      ask.arguments.push_back(source.of_prologue()
                                  ? OfPrologue(source)
                                  : find(called.arguments[source.slot]));
    }
    return ask;
  }

  // Adds a procedure, after which stage `after` comes. Its stages stand one
  // after the other, before those of its branches.
  bool Add(int32_t index, const std::vector<FlowSource>& arguments,
           int32_t after, const Guards& guards,
           std::vector<FlowSource>* results) {
    const PlannedProcedure& procedure = plan_.procedures[index];
    if (procedure.goes_on.has_value()) return false;
    for (const PlannedList& list : procedure.lists) {
      if (list.slot < procedure.num_arguments) return false;
    }
    const auto first = static_cast<int32_t>(flow_.stages.size());
    const auto count = static_cast<int32_t>(procedure.stages.size());
    if (flow_.stages.size() + procedure.stages.size() > kMostStages) {
      return false;
    }
    flow_.stages.resize(first + count);
    guards_.resize(first + count, guards);
    Adding adding{
        &procedure, {arguments.begin(), arguments.end()}, first, &guards};
    adding.slots.resize(procedure.num_slots);
    for (int32_t k = 0; k < count; ++k) {
      flow_.stages[first + k].next.to = k + 1 < count ? first + k + 1 : after;
      if (!AddStage(procedure.stages[k], k, &adding)) return false;
    }
    *results = FindAll(adding, procedure.outputs);
    return true;
  }

  bool AddStage(const Stage& stage, int32_t k, Adding* adding) {
    const int32_t index = adding->first_stage + k;
    FlowStage added;
    added.next = flow_.stages[index].next;
    added.block = stage.block;
    for (const StageInput& input : stage.inputs) {
      AddInput(*adding, input, &added);
    }
    added.num_outputs = stage.num_outputs;
    if (stage.block != kNoBlock) added.cell = flow_.num_cells++;
    AddOutputs(stage, index, adding, &added);
    for (const PlannedPush& push : stage.pushes) {
      added.pushes.push_back(
          {push.table, Find(*adding, push.index), Find(*adding, push.value)});
    }
    for (const CallSite& call : stage.calls) {
      if (call.key.has_value()) return false;
      const auto of = static_cast<int32_t>(flow_.calls.size());
      added.calls.push_back(of);
      const Place place{of, stage.calls.size() == 1, added.next.to};
      const bool is_added = call.num_mapped > 0 ? AddMap(call, place, adding)
                                                : AddCall(call, place, adding);
      if (!is_added) return false;
    }
    flow_.stages[index] = std::move(added);
    return true;
  }

  void AddInput(const Adding& adding, const StageInput& input,
                FlowStage* added) {
    const PlannedList* const list = adding.procedure->ListAt(input.front());
    if (list == nullptr) {
      added->inputs.push_back(FindAll(adding, input));
      return;
    }
    const auto i = static_cast<int32_t>(added->inputs.size());
    added->list_inputs.push_back({i, list->no_items});
    added->inputs.push_back({FindList(adding, input.front())});
  }

  // Adds the outputs of a block, which is in a stage of the flow.
  void AddOutputs(const Stage& stage, int32_t of, Adding* adding,
                  FlowStage* added) {
    for (int32_t i = 0; i < stage.num_outputs; ++i) {
      const Source output = Source::Slot(stage.first_output + i);
      int32_t cell = added->cell;
      if (adding->IsList(output)) {
        cell = flow_.num_cells;
        flow_.num_cells += 2;
        added->list_outputs.push_back({i, cell, {}});
      }
      adding->slots[output.slot] = {Kind::kCell, cell, i, of};
    }
    for (FlowListOutput& list : added->list_outputs) {
      const Source output = Source::Slot(stage.first_output + list.output);
      list.count = Find(*adding, adding->procedure->ListAt(output)->count);
    }
  }

  // Adds a call for each item of lists.
  bool AddMap(const CallSite& call, const Place& place, Adding* adding) {
    if (flow_.calls.size() >= kMostCalls) return false;
    const Branch& called = call.branches.front();
    if (call.selector.has_value() || called.procedure != flow_.subgraph) {
      return false;
    }
    for (size_t i = 0; i < called.arguments.size(); ++i) {
      const Source argument = called.arguments[i];
      const bool is_mapped = i < static_cast<size_t>(call.num_mapped);
      if (adding->IsList(argument) != is_mapped) return false;
      if (is_mapped && !IsMapped(*adding, argument, called.arguments.front())) {
        return false;
      }
    }
    const auto find = [&](Source source) {
      FlowSource found = adding->IsList(source) ? FindList(*adding, source)
                                                : Find(*adding, source);
      found.is_of_item = adding->IsList(source);
      return found;
    };
    FlowCall& added = flow_.calls.emplace_back();
    added.cell = flow_.num_cells++;
    added.list = FindList(*adding, called.arguments.front()).cell;
    added.branches.emplace_back().ask = AskOf(call.site, called, find);
    added.num_results = NumResults(called);
    for (int32_t i = 0; i < added.num_results; ++i) {
      const Source result = Source::Slot(call.first_result + i);
      if (!adding->IsList(result)) continue;
      adding->slots[result.slot] = {Kind::kCall, added.cell, i, place.call};
    }
    return true;
  }

  // Returns whether a call may be made for each item of a list: a block gave
  // it, and it has as many items as the first one.
  bool IsMapped(const Adding& adding, Source list, Source first) {
    const PlannedProcedure& procedure = *adding.procedure;
    return FindList(adding, list).kind == Kind::kCell &&
           procedure.ListAt(list)->count.slot ==
               procedure.ListAt(first)->count.slot;
  }

  // Adds a call. Branches of one call have cells side by side: only one of them
  // is taken.
  bool AddCall(const CallSite& call, const Place& place, Adding* adding) {
    if (flow_.calls.size() >= kMostCalls) return false;
    for (int32_t i = 0; i < NumResults(call.branches.front()); ++i) {
      if (adding->IsList(Source::Slot(call.first_result + i))) return false;
    }
    flow_.calls.emplace_back().cell = flow_.num_cells++;
    FlowCall added = flow_.calls.back();
    if (call.selector.has_value()) {
      added.selector = Find(*adding, *call.selector);
    }
    const int32_t first_cell = flow_.num_cells;
    int32_t num_cells = first_cell;
    for (size_t way = 0; way < call.branches.size(); ++way) {
      flow_.num_cells = first_cell;
      FlowBranch& branch = added.branches.emplace_back();
      if (!AddBranch(call, way, place, *adding, &branch)) return false;
      num_cells = std::max(num_cells, flow_.num_cells);
    }
    flow_.num_cells = num_cells;
    added.num_results = NumResults(call.branches.front());
    AddByWay(&added);
    for (int32_t i = 0; i < added.num_results; ++i) {
      adding->slots[call.first_result + i] = {Kind::kCall, added.cell, i,
                                              place.call};
    }
    flow_.calls[place.call] = std::move(added);
    return true;
  }

  static void AddByWay(FlowCall* call) {
    for (const FlowBranch& branch : call->branches) {
      for (int32_t i = 0; i < call->num_results; ++i) {
        call->by_way.push_back(branch.ask.has_value() ? FlowSource()
                                                      : branch.results[i]);
      }
    }
  }

  bool AddBranch(const CallSite& call, size_t way, const Place& place,
                 const Adding& adding, FlowBranch* added) {
    const Branch& branch = call.branches[way];
    const auto find = [&](Source source) { return Find(adding, source); };
    if (NumResults(branch) != NumResults(call.branches.front())) return false;
    const PassThrough::Procedure& passed = pass_through_[branch.procedure];
    const bool in_place =
        place.is_alone && in_place_.RunsInPlace(branch.procedure);
    added->decides = in_place && call.selector.has_value();
    if (branch.procedure == flow_.subgraph) {
      added->ask = AskOf(call.site, branch, find);
      return true;
    }
    if (passed.kind == PassThrough::Kind::kCalls) {
      if (passed.callee.procedure != flow_.subgraph) return false;
      added->ask = AskOf(passed.call->site, passed.callee, find);
      return true;
    }
    if (passed.kind == PassThrough::Kind::kReturns) {
      added->results = FindAll(adding, passed.results);
      return true;
    }
    if (!in_place) return false;
    if (plan_.procedures[branch.procedure].stages.empty()) return false;
    Guards guards = *adding.guards;
    const auto taken = static_cast<int32_t>(way);
    guards.push_back({flow_.calls[place.call].cell, WayOf(taken)});
    const int32_t end = AddReturn(place, taken, guards);
    added->entry.emplace().to = end + 1;
    return Add(branch.procedure, FindAll(adding, branch.arguments), end, guards,
               &added->results);
  }

  // Adds the stage in which a branch ends.
  int32_t AddReturn(const Place& place, int32_t branch, const Guards& guards) {
    FlowStage& added = flow_.stages.emplace_back();
    added.returns_to = place.call;
    added.branch = branch;
    added.next.to = place.after;
    guards_.push_back(guards);
    return static_cast<int32_t>(flow_.stages.size()) - 1;
  }

  const Plan& plan_;
  const PassThrough pass_through_;
  const InPlace in_place_;
  Flow flow_;
  // Whether all that is read was made before.
  bool is_whole_ = true;
  // By stage: the branches that lead to it.
  std::vector<Guards> guards_;
};

}  // namespace

std::optional<Flow> FindFlow(const Plan& plan) {
  FlowMaker maker(plan);
  if (!maker.Make()) return std::nullopt;
  return maker.Take();
}

}  // namespace recursive_tf
