#include "recursive_tf/cc/batching/plan_types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

TypeChecker::TypeChecker(const Plan* plan, const ProgramTypes* types,
                         Readable readable)
    : plan_(*plan), types_(*types), readable_(readable) {
  for (const PlannedProcedure& procedure : plan->procedures) {
    slots_.emplace_back(procedure.num_slots, kUnknown);
  }
}

std::string TypeChecker::Check() {
  if (CountsFit()) {
    FindTypes();
    for (size_t p = 0; p < plan_.procedures.size(); ++p) CheckReads(p);
  }
  return error_;
}

bool TypeChecker::CountsFit() {
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

void TypeChecker::CheckCounts(const Stage& stage) {
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

void TypeChecker::FindTypes() {
  const Types& arguments = types_.arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    Put(0, static_cast<int32_t>(i), arguments[i]);
  }
  do {
    changed_ = false;
    for (size_t p = 0; p < plan_.procedures.size(); ++p) Follow(p);
  } while (changed_ && error_.empty());
}

void TypeChecker::Follow(size_t p) {
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

void TypeChecker::Follow(size_t p, const CallSite& call, const Branch& branch) {
  PutArguments(p, branch);
  const PlannedProcedure& callee = plan_.procedures[branch.procedure];
  if (callee.goes_on.has_value()) return;
  for (size_t i = 0; i < callee.outputs.size(); ++i) {
    Put(p, call.first_result + static_cast<int32_t>(i),
        TypeOf(branch.procedure, callee.outputs[i]));
  }
}

void TypeChecker::PutArguments(size_t p, const Branch& branch) {
  for (size_t i = 0; i < branch.arguments.size(); ++i) {
    Put(branch.procedure, static_cast<int32_t>(i),
        TypeOf(p, branch.arguments[i]));
  }
}

void TypeChecker::CheckReads(size_t p) {
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

void TypeChecker::CheckReads(size_t p, const Stage& stage) {
  for (size_t i = 0; i < stage.inputs.size(); ++i) {
    for (const Source& source : stage.inputs[i]) {
      if (stage.block == kNoBlock) continue;
      ExpectType(p, source, {types_.blocks[stage.block].inputs[i]});
    }
  }
  for (const PlannedPush& push : stage.pushes) {
    ExpectType(p, push.index, {readable_.int32, readable_.int64});
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

int32_t TypeChecker::TypeOf(size_t p, Source source) const {
  return source.of_prologue() ? types_.prologue[source.prologue_output()]
                              : slots_[p][source.slot];
}

void TypeChecker::Put(size_t p, int32_t slot, int32_t type) {
  int32_t& there = slots_[p][slot];
  if (type == kUnknown || there == type) return;
  Expect(there == kUnknown, "puts values of two types into one slot");
  changed_ = changed_ || there == kUnknown;
  if (there == kUnknown) there = type;
}

void TypeChecker::ExpectType(size_t p, Source source,
                             std::initializer_list<int32_t> types) {
  const int32_t type = TypeOf(p, source);
  if (type == kUnknown) return;
  Expect(std::find(types.begin(), types.end(), type) != types.end(),
         "reads a value as one of another type");
}

void TypeChecker::Expect(bool is_right, const char* what) {
  if (is_right || !error_.empty()) return;
  error_ = std::string("The plan is damaged: it ") + what + ".";
}

}  // namespace recursive_tf
