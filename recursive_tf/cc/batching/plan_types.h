#ifndef RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_
#define RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Types of values, as numbers: those of TensorFlow, or others.
using Types = std::vector<int32_t>;

// What a block takes, without outputs of the prologue, and what it gives.
struct BlockTypes {
  Types inputs;
  Types outputs;
};

// What a program looks like from outside: its functions, and its root call.
struct ProgramTypes {
  // By block; with what it gives for its gradient, if that is kept.
  std::vector<BlockTypes> blocks;
  Types prologue;
  Types arguments;
  Types results;
  // Of the values that are pushed.
  Types tables;
};

// Follows the values of a plan, and finds whether each is of the type that who
// reads it expects. A slot of which nobody says a type belongs to a procedure
// that is never invoked, or is the result of one that never returns.
//
// Time is linear in the plan for each call within a call within a call.
class TypeChecker {
 public:
  static constexpr int32_t kUnknown = 0;

  // What the plan itself reads.
  struct Readable {
    int32_t boolean;
    int32_t int32;
    int32_t int64;
  };

  // Both must outlive this. REQUIRES: the plan was read by PlanDecoder.
  TypeChecker(const Plan* plan, const ProgramTypes* types, Readable readable)
      : plan_(*plan), types_(*types), readable_(readable) {
    for (const PlannedProcedure& procedure : plan->procedures) {
      slots_.emplace_back(procedure.num_slots, kUnknown);
    }
  }

  // Returns what is wrong, or nothing.
  std::string Check() {
    if (CountsFit()) {
      Settle();
      for (size_t p = 0; p < plan_.procedures.size(); ++p) CheckReads(p);
    }
    return error_;
  }

 private:
  bool CountsFit() {
    const PlannedProcedure& entry = plan_.procedures.front();
    const bool fits =
        types_.blocks.size() == static_cast<size_t>(plan_.num_blocks) &&
        types_.prologue.size() >=
            static_cast<size_t>(plan_.num_prologue_outputs) &&
        types_.arguments.size() == static_cast<size_t>(entry.num_arguments) &&
        types_.results.size() == entry.outputs.size();
    Expect(fits, "does not take and return what its root call does");
    for (const PlannedProcedure& procedure : plan_.procedures) {
      for (const Stage& stage : procedure.stages) {
        if (fits) CheckCounts(stage);
      }
    }
    return error_.empty();
  }

  void CheckCounts(const Stage& stage) {
    for (const PlannedPush& push : stage.pushes) {
      Expect(static_cast<size_t>(push.table) < types_.tables.size(),
             "names a table that is not there");
    }
    if (stage.block == kNoBlock) return;
    const BlockTypes& block = types_.blocks[stage.block];
    Expect(block.inputs.size() == stage.inputs.size() &&
               block.outputs.size() >= static_cast<size_t>(stage.num_outputs),
           "has a block that takes or gives other values than its function");
  }

  // Gives each slot the type of what is put there.
  void Settle() {
    const Types& arguments = types_.arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      Put(0, static_cast<int32_t>(i), arguments[i]);
    }
    do {
      changed_ = false;
      for (size_t p = 0; p < plan_.procedures.size(); ++p) Follow(p);
    } while (changed_ && error_.empty());
  }

  void Follow(size_t p) {
    const PlannedProcedure& procedure = plan_.procedures[p];
    for (const Stage& stage : procedure.stages) {
      for (int32_t i = 0; i < stage.num_outputs; ++i) {
        Put(p, stage.first_output + i, types_.blocks[stage.block].outputs[i]);
      }
      for (const CallSite& call : stage.calls) {
        for (const Branch& branch : call.branches) Follow(p, call, branch);
      }
    }
    if (procedure.goes_on.has_value()) PutArguments(p, *procedure.goes_on);
  }

  void Follow(size_t p, const CallSite& call, const Branch& branch) {
    PutArguments(p, branch);
    const PlannedProcedure& callee = plan_.procedures[branch.procedure];
    if (callee.goes_on.has_value()) return;
    for (size_t i = 0; i < callee.outputs.size(); ++i) {
      Put(p, call.first_result + static_cast<int32_t>(i),
          TypeOf(branch.procedure, callee.outputs[i]));
    }
  }

  void PutArguments(size_t p, const Branch& branch) {
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      Put(branch.procedure, static_cast<int32_t>(i),
          TypeOf(p, branch.arguments[i]));
    }
  }

  void CheckReads(size_t p) {
    const PlannedProcedure& procedure = plan_.procedures[p];
    for (const Stage& stage : procedure.stages) CheckReads(p, stage);
    for (const PlannedList& list : procedure.lists) {
      ExpectType(p, list.count, {readable_.int32});
      const int32_t items = slots_[p][list.slot];
      if (items == kUnknown) continue;
      ExpectType(p, Source::Prologue(list.no_items), {items});
    }
    if (p > 0) return;
    for (size_t i = 0; i < procedure.outputs.size(); ++i) {
      ExpectType(p, procedure.outputs[i], {types_.results[i]});
    }
  }

  void CheckReads(size_t p, const Stage& stage) {
    for (size_t i = 0; i < stage.inputs.size(); ++i) {
      for (const Source& source : stage.inputs[i]) {
        if (stage.block == kNoBlock) continue;
        ExpectType(p, source, {types_.blocks[stage.block].inputs[i]});
      }
    }
    for (const PlannedPush& push : stage.pushes) {
      ExpectType(p, push.index, {readable_.int64});
      ExpectType(p, push.value, {types_.tables[push.table]});
    }
    for (const CallSite& call : stage.calls) {
      if (call.selector.has_value()) {
        ExpectType(p, *call.selector, {readable_.boolean, readable_.int32});
      }
      if (call.key.has_value()) {
        ExpectType(p, *call.key, {readable_.int32, readable_.int64});
      }
    }
  }

  int32_t TypeOf(size_t p, Source source) const {
    return source.of_prologue() ? types_.prologue[source.prologue_output()]
                                : slots_[p][source.slot];
  }

  void Put(size_t p, int32_t slot, int32_t type) {
    int32_t& there = slots_[p][slot];
    if (type == kUnknown || there == type) return;
    Expect(there == kUnknown, "puts values of two types into one slot");
    changed_ = changed_ || there == kUnknown;
    if (there == kUnknown) there = type;
  }

  void ExpectType(size_t p, Source source,
                  std::initializer_list<int32_t> types) {
    const int32_t type = TypeOf(p, source);
    if (type == kUnknown) return;
    Expect(std::find(types.begin(), types.end(), type) != types.end(),
           "reads a value as one of another type");
  }

  void Expect(bool is_right, const char* what) {
    if (is_right || !error_.empty()) return;
    error_ = std::string("The plan is damaged: it ") + what + ".";
  }

  const Plan& plan_;
  const ProgramTypes& types_;
  const Readable readable_;
  // By procedure and slot.
  std::vector<Types> slots_;
  bool changed_ = false;
  std::string error_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAN_TYPES_H_
