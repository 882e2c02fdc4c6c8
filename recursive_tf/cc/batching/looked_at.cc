#include "recursive_tf/cc/batching/looked_at.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {
namespace {

// The slots of all procedures that hold what is looked at.
class LookedAt {
 public:
  explicit LookedAt(const Plan& plan) : plan_(plan) {
    for (const PlannedProcedure& procedure : plan.procedures) {
      slots_.emplace_back(procedure.num_slots, false);
    }
    // What is handed on is found from where it is looked at, step by step back.
    do {
      has_changed_ = false;
      for (size_t i = 0; i < plan.procedures.size(); ++i) {
        Find(static_cast<int32_t>(i));
      }
    } while (has_changed_);
  }

  bool Has(int32_t procedure, int32_t slot) const {
    return slots_[procedure][slot];
  }

 private:
  void Find(int32_t index) {
    const PlannedProcedure& procedure = plan_.procedures[index];
    for (const PlannedList& list : procedure.lists) {
      Add(index, list.count);
      Add(index, Source::Slot(list.slot));
    }
    for (const Stage& stage : procedure.stages) {
      for (const PlannedPush& push : stage.pushes) Add(index, push.index);
      for (const CallSite& call : stage.calls) Find(index, call);
    }
    if (procedure.goes_on.has_value()) HandOn(index, *procedure.goes_on);
  }

  void Find(int32_t index, const CallSite& call) {
    if (call.selector.has_value()) Add(index, *call.selector);
    if (call.key.has_value()) Add(index, *call.key);
    for (const Branch& branch : call.branches) {
      HandOn(index, branch);
      const PlannedProcedure& callee = plan_.procedures[branch.procedure];
      // A turn of a loop returns nothing.
      if (callee.goes_on.has_value()) continue;
      const std::vector<Source>& outputs = callee.outputs;
      for (size_t i = 0; i < outputs.size(); ++i) {
        const int32_t result = call.first_result + static_cast<int32_t>(i);
        if (Has(index, result)) Add(branch.procedure, outputs[i]);
      }
    }
  }

  void HandOn(int32_t index, const Branch& branch) {
    for (size_t i = 0; i < branch.arguments.size(); ++i) {
      if (Has(branch.procedure, static_cast<int32_t>(i))) {
        Add(index, branch.arguments[i]);
      }
    }
  }

  void Add(int32_t procedure, Source source) {
    if (source.of_prologue() || slots_[procedure][source.slot]) return;
    slots_[procedure][source.slot] = true;
    has_changed_ = true;
  }

  const Plan& plan_;
  // By procedure and slot.
  std::vector<std::vector<bool>> slots_;
  bool has_changed_ = false;
};

}  // namespace

std::vector<bool> FindLookedAt(const Plan& plan) {
  const LookedAt looked_at(plan);
  std::vector<bool> blocks(plan.num_blocks, false);
  for (size_t i = 0; i < plan.procedures.size(); ++i) {
    for (const Stage& stage : plan.procedures[i].stages) {
      if (stage.block == kNoBlock) continue;
      for (int32_t k = 0; k < stage.num_outputs; ++k) {
        if (looked_at.Has(static_cast<int32_t>(i), stage.first_output + k)) {
          blocks[stage.block] = true;
        }
      }
    }
  }
  return blocks;
}

}  // namespace recursive_tf
