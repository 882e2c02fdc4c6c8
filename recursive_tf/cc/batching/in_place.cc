#include "recursive_tf/cc/batching/in_place.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

InPlace::InPlace(const Plan& plan) : homes_(plan.procedures.size()) {
  FindHomes(plan);
  for (const PlannedProcedure& procedure : plan.procedures) {
    sizes_.push_back(procedure.num_slots);
  }
  // A branch may stand in a branch: as many rounds as they nest.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t branch = 0; branch < homes_.size(); ++branch) {
      const int32_t around = homes_[branch].procedure;
      if (around == kNoProcedure) continue;
      const int32_t least = plan.procedures[around].num_slots + sizes_[branch];
      if (sizes_[around] >= least) continue;
      sizes_[around] = least;
      changed = true;
    }
  }
}

void InPlace::FindHomes(const Plan& plan) {
  std::vector<int32_t> num_callers(plan.procedures.size(), 0);
  for (size_t p = 0; p < plan.procedures.size(); ++p) {
    const std::vector<Stage>& stages = plan.procedures[p].stages;
    for (size_t k = 0; k < stages.size(); ++k) {
      for (const CallSite& call : stages[k].calls) {
        for (const Branch& branch : call.branches) {
          ++num_callers[branch.procedure];
          if (stages[k].calls.size() == 1) {
            homes_[branch.procedure] = {
                static_cast<int32_t>(p), static_cast<int32_t>(k),
                call.first_result, call.key.has_value()};
          }
        }
      }
    }
  }
  for (size_t p = 0; p < homes_.size(); ++p) {
    if (!plan.procedures[p].is_branch || num_callers[p] != 1) homes_[p] = {};
  }
}

}  // namespace recursive_tf
