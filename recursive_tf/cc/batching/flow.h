#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// A plan in which every invocation is one of the same SubGraph, and calls
// nothing but this SubGraph: a recursion over trees or, if it is memoized, over
// a graph, as vertex functions are. Such an invocation is a row of a table
// (flow_steps.h): its cells say where its values are, and each place of the
// program says which cell it reads. Nothing is handed on from call to call.
//
// A cell holds an argument, the outputs of a block, or which way a call went.
//
// An invocation may call for each item of lists that a block gave. A list has
// two cells: where its first item is, which the others follow, and how many
// there are. The results of such a call are lists that only blocks take.

// The stage after the last one.
constexpr int32_t kEndOfFlow = -1;

// Where an invocation finds a value.
struct FlowSource {
  enum class Kind : uint8_t {
    // Output `index` of the prologue.
    kPrologue,
    // The row that `cell` names, of the value `index` behind that one.
    kCell,
    // Result `index` of a call, of which `cell` says which way it went.
    kCall,
    // Argument `index` of the root call.
    kRoot,
  };

  friend bool operator==(const FlowSource& a, const FlowSource& b) {
    return a.kind == b.kind && a.cell == b.cell && a.index == b.index &&
           a.of == b.of;
  }

  Kind kind = Kind::kPrologue;
  int32_t cell = 0;
  int32_t index = 0;
  // The call, or the stage that runs the block; kEndOfFlow for an argument.
  int32_t of = 0;
  // Whether an ask for an item of lists takes that of this one, whose first
  // item the cell names.
  bool is_of_item = false;
};

// Says that a call went to a branch, and not to another invocation.
constexpr int32_t WayOf(int32_t branch) { return -1 - branch; }

// Stand for all ways to another invocation, and for all ways to a branch.
constexpr int32_t kAnother = 0;
constexpr int32_t kAnyBranch = 1;

// A value that dies when an invocation goes on; only if it took the branches in
// which the value comes to be.
struct FlowDeath {
  struct Guard {
    friend bool operator==(const Guard& a, const Guard& b) {
      return a.cell == b.cell && a.way == b.way;
    }

    bool IsTaken(int32_t by) const {
      if (way < 0) return by == way;
      return way == kAnother ? by >= 0 : by < 0;
    }

    int32_t cell = 0;
    int32_t way = 0;
  };

  FlowSource source;
  std::vector<Guard> guards;
  // Whether it is what a call for each item of lists gave.
  bool is_of_items = false;
};

// Where an invocation goes on, and what it does not read from there on.
struct FlowEdge {
  int32_t to = kEndOfFlow;
  std::vector<FlowDeath> deaths;
  // Outputs of the block of the stage that the edge leaves, apart: they die for
  // a whole launch at a time.
  std::vector<int32_t> own_deaths;
  // A number of its own.
  int32_t id = 0;
};

// What asks for an invocation: for one of its own or, with a key, for the one
// that has it.
struct FlowAsk {
  int32_t site = 0;
  std::optional<FlowSource> key;
  std::vector<FlowSource> arguments;
};

struct FlowBranch {
  // If it asks. Otherwise it returns `results`, at once or, if it is entered,
  // when its stages are done.
  std::optional<FlowAsk> ask;
  std::vector<FlowSource> results;
  std::optional<FlowEdge> entry;
  // Whether the selector decides for the invocation itself, too.
  bool decides = false;
};

struct FlowCall {
  // Returns where a result is if the call went to a branch that returned it.
  const FlowSource& ResultOf(int32_t way, int32_t result) const {
    return by_way[WayOf(way) * num_results + result];
  }

  // Returns whether it takes one of several branches, and asks nobody.
  bool is_fork() const {
    return selector.has_value() && !list.has_value() &&
           std::none_of(
               branches.begin(), branches.end(),
               [](const FlowBranch& branch) { return branch.ask.has_value(); });
  }

  // Returns whether it asks for one invocation, whatever was computed before.
  bool is_ask() const {
    return !selector.has_value() && !list.has_value() &&
           branches.front().ask.has_value();
  }

  std::optional<FlowSource> selector;
  std::vector<FlowBranch> branches;
  int32_t cell = 0;
  // If it asks for each item of lists: the cells of one of them.
  std::optional<int32_t> list;
  int32_t num_results = 0;
  // The results of the branches once more, branch by branch, so that who reads
  // one finds it soon.
  std::vector<FlowSource> by_way;
  // Which results are held for who reads them, whatever a branch found them in.
  // Others are values of the branch itself, which live as long.
  std::vector<int32_t> held_results;
};

struct FlowPush {
  int32_t table = 0;
  FlowSource index;
  FlowSource value;
};

// An input of a block that is the items of lists.
struct FlowListInput {
  int32_t input = 0;
  // As PlannedList.
  int32_t no_items = 0;
};

// An output of a block that is the items of lists.
struct FlowListOutput {
  int32_t output = 0;
  // The first of its two cells.
  int32_t cell = 0;
  // Where its count is; perhaps another output of the block.
  FlowSource count;
};

constexpr int32_t kNoCall = -1;

struct FlowStage {
  int32_t block = kNoBlock;
  // The call, one of whose branches ends here, in a stage that does nothing
  // else; and which.
  int32_t returns_to = kNoCall;
  int32_t branch = 0;
  // As StageInput.
  std::vector<std::vector<FlowSource>> inputs;
  std::vector<FlowListInput> list_inputs;
  int32_t cell = 0;
  int32_t num_outputs = 0;
  std::vector<FlowListOutput> list_outputs;
  // Parts of inputs that nobody reads again: input, part. They die for a whole
  // launch at a time.
  std::vector<std::pair<int32_t, int32_t>> last_reads;
  // Outputs that anybody reads.
  std::vector<int32_t> read_outputs;
  std::vector<FlowPush> pushes;
  // Indices of calls.
  std::vector<int32_t> calls;
  FlowEdge next;

  bool IsListInput(size_t input) const {
    return std::any_of(list_inputs.begin(), list_inputs.end(),
                       [input](const FlowListInput& list) {
                         return static_cast<size_t>(list.input) == input;
                       });
  }

  // Returns the cell that names the row of an output, or its first item.
  int32_t CellOf(int32_t output) const {
    for (const FlowListOutput& list : list_outputs) {
      if (list.output == output) return list.cell;
    }
    return cell;
  }
};

struct Flow {
  // The SubGraph; of a memoized one the front.
  int32_t subgraph = 0;
  // Whether it is memoized, so that all asks have a key.
  bool is_shared = false;
  // What a row of the root call asks for.
  FlowAsk root;
  int32_t num_cells = 0;
  int32_t num_edges = 0;
  // Which arguments anybody reads; argument i is in cell i.
  std::vector<int32_t> read_arguments;
  int32_t num_arguments = 0;
  // Those of all procedures. An invocation begins at the first one.
  std::vector<FlowStage> stages;
  std::vector<FlowCall> calls;
  std::vector<FlowSource> results;
  // Which of them are held at the end, for who reads them; what others are is
  // not given up. And what is, when they are.
  std::vector<int32_t> held_results;
  std::vector<FlowDeath> deaths_at_end;
};

// Calls `visit` with each edge by which invocations leave a stage.
template <typename AnyFlow, typename Visit>
void ForEachEdge(AnyFlow* flow, size_t stage, const Visit& visit) {
  auto& left = flow->stages[stage];
  visit(&left.next);
  for (const int32_t call : left.calls) {
    for (auto& branch : flow->calls[call].branches) {
      if (branch.entry.has_value()) visit(&*branch.entry);
    }
  }
}

// Returns a plan as a flow, or none if it is of another kind.
std::optional<Flow> FindFlow(const Plan& plan);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_H_
