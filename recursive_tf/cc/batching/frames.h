#ifndef RECURSIVE_TF_CC_BATCHING_FRAMES_H_
#define RECURSIVE_TF_CC_BATCHING_FRAMES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

constexpr int32_t kNoProcedure = -1;

// Which branches run in place: in the activation that takes them, with slots
// behind its own. That is a branch of a conditional that its procedure waits
// for alone. Beside another call it is an activation of its own, because it
// must not wait for that.
class Frames {
 public:
  // Where a branch that runs in place returns to.
  struct Home {
    int32_t procedure = kNoProcedure;
    int32_t stage = 0;
    int32_t first_result = 0;
    // Whether who waits there may take what another activation's run gave.
    bool is_shared = false;
  };

  explicit Frames(const Plan& plan) : homes_(plan.procedures.size()) {
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
        const int32_t least =
            plan.procedures[around].num_slots + sizes_[branch];
        if (sizes_[around] >= least) continue;
        sizes_[around] = least;
        changed = true;
      }
    }
  }

  bool RunsInPlace(int32_t procedure) const {
    return homes_[procedure].procedure != kNoProcedure;
  }

  // REQUIRES: `branch` runs in place.
  const Home& HomeOf(int32_t branch) const { return homes_[branch]; }

  // Returns by procedure how many slots an activation of it has, those of
  // branches that run in place included.
  const std::vector<int32_t>& sizes() const { return sizes_; }

  // Returns the procedure that an activation that is in `procedure` is of.
  int32_t Outermost(int32_t procedure) const {
    while (RunsInPlace(procedure)) procedure = homes_[procedure].procedure;
    return procedure;
  }

 private:
  void FindHomes(const Plan& plan) {
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

  // By procedure.
  std::vector<Home> homes_;
  std::vector<int32_t> sizes_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FRAMES_H_
