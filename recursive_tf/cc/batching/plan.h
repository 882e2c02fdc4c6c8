#ifndef RECURSIVE_TF_CC_BATCHING_PLAN_H_
#define RECURSIVE_TF_CC_BATCHING_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace recursive_tf {

// Where a procedure finds a value: `slot` of its activation, or, where that is
// negative, an output of the prologue, which is computed once a root call.
struct Source {
  static Source Slot(int32_t slot) { return {slot}; }
  static Source Prologue(int32_t output) { return {-1 - output}; }

  bool of_prologue() const { return slot < 0; }
  int32_t prologue_output() const { return -1 - slot; }

  int32_t slot = 0;
};

// A procedure that a call site may invoke, and what it gets.
struct Branch {
  int32_t procedure = 0;
  std::vector<Source> arguments;
};

// A place where a procedure waits for another: a call of a SubGraph, or a
// conditional, whose branches are procedures of their own.
struct CallSite {
  // Returns the branch that a number of the selector takes, of so many.
  static size_t BranchFor(int64_t chosen, size_t num_branches) {
    const size_t last = num_branches - 1;
    return chosen < 0 ? last : std::min(static_cast<size_t>(chosen), last);
  }

  // Of the call within its SubGraph, for paths.
  int32_t site = 0;
  // Which branch is taken: a number from 0, and the last branch for all others,
  // as in `tf.switch_case`. Without one it is the first.
  std::optional<Source> selector;
  std::vector<Branch> branches;
  // The slot of the first result; the others follow.
  int32_t first_result = 0;
  // Of a map: how many of the first arguments are lists. There is a call for
  // each of their items, and each result is a list. 0 for a single call.
  int32_t num_mapped = 0;
  // Of the call of a memoized SubGraph's body by its front: all that have the
  // same key share one run of it.
  std::optional<Source> key = std::nullopt;
};

// A slot that holds a list: any number of rows, which may be others for each
// activation. A block takes and gives the items of all of its activations, one
// activation after the other.
struct PlannedList {
  int32_t slot = 0;
  // The output of the prologue that stands for no items at all.
  int32_t no_items = 0;
  // Its first number says how many items there are.
  Source count;
};

// A row that a procedure adds to a table of the root call.
struct PlannedPush {
  int32_t table = 0;
  Source index;
  Source value;
};

constexpr int32_t kNoBlock = -1;

// What a block takes as one input: the rows of a value or, where there are
// several, their rows joined, each with the next behind it; or items of lists.
using StageInput = std::vector<Source>;

// What a procedure does between two waits: runs a block, perhaps, with all the
// other activations that wait for the same, pushes, and calls.
struct Stage {
  int32_t block = kNoBlock;
  std::vector<StageInput> inputs;
  // The slot of the block's first output; the others follow.
  int32_t first_output = 0;
  int32_t num_outputs = 0;
  std::vector<PlannedPush> pushes;
  std::vector<CallSite> calls;
};

// The body of a SubGraph, or a branch or a loop with a call site, cut at its
// calls. The first slots hold the arguments.
struct PlannedProcedure {
  // A branch is a part of the invocation that takes it.
  bool is_branch = false;
  int32_t num_arguments = 0;
  int32_t num_slots = 0;
  std::vector<Stage> stages;
  std::vector<Source> outputs;
  // Where it goes on at its end instead of returning: a turn of a loop begins
  // the loop, whose branch it is, again.
  std::optional<Branch> goes_on;
  std::vector<PlannedList> lists;

  // Returns what list `source` is, or null.
  const PlannedList* ListAt(Source source) const {
    for (const PlannedList& list : lists) {
      if (list.slot == source.slot) return &list;
    }
    return nullptr;
  }
};

// The procedure that the root call invokes.
constexpr int32_t kRootProcedure = 0;

// A program as the batched executor runs it. A block belongs to one stage.
struct Plan {
  int32_t num_prologue_outputs = 0;
  int32_t num_blocks = 0;
  std::vector<PlannedProcedure> procedures;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAN_H_
