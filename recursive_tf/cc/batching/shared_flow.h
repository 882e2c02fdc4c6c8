#ifndef RECURSIVE_TF_CC_BATCHING_SHARED_FLOW_H_
#define RECURSIVE_TF_CC_BATCHING_SHARED_FLOW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// A plan in which every invocation is one of the same memoized SubGraph, and
// calls nothing but this SubGraph: a vertex function, or a recursion over a
// graph. Such an invocation is a row of a table (shared_steps.h): its cells say
// where its values are, and each place of the program says which cell it reads.
// Nothing is handed on from call to call.
//
// A cell holds an argument, the outputs of a block, or which way a call went.

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

  Kind kind = Kind::kPrologue;
  int32_t cell = 0;
  int32_t index = 0;
  // The call, or the stage that runs the block; kEndOfFlow for an argument.
  int32_t of = 0;
};

// Says that a call went to a branch, and not to another invocation.
constexpr int32_t WayOf(int32_t branch) { return -1 - branch; }

// A value that dies when an invocation goes on; only if it took the branches in
// which the value comes to be.
struct FlowDeath {
  struct Guard {
    int32_t cell = 0;
    int32_t way = 0;
  };

  FlowSource source;
  std::vector<Guard> guards;
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

// What asks for an invocation.
struct FlowAsk {
  int32_t site = 0;
  FlowSource key;
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
  std::optional<FlowSource> selector;
  std::vector<FlowBranch> branches;
  int32_t cell = 0;
};

struct FlowPush {
  int32_t table = 0;
  FlowSource index;
  FlowSource value;
};

struct FlowStage {
  int32_t block = kNoBlock;
  // As StageInput.
  std::vector<std::vector<FlowSource>> inputs;
  int32_t cell = 0;
  int32_t num_outputs = 0;
  // Those that anybody reads.
  std::vector<int32_t> read_outputs;
  std::vector<FlowPush> pushes;
  // Indices of calls.
  std::vector<int32_t> calls;
  FlowEdge next;
};

struct SharedFlow {
  // The SubGraph, as its front.
  int32_t front = 0;
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
  // What is still held at the end, when the results are held for all.
  std::vector<FlowDeath> deaths_at_end;
};

// Returns a plan as a flow, or none if it is of another kind.
std::optional<SharedFlow> FindSharedFlow(const Plan& plan);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SHARED_FLOW_H_
