#ifndef RECURSIVE_TF_CC_BATCHING_PLAIN_FRONTS_H_
#define RECURSIVE_TF_CC_BATCHING_PLAIN_FRONTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Which fronts do nothing but ask for what has the key that is one of their
// arguments, and return it. A call of such a front needs no activation where
// another one runs what it asks for, or has run it: the caller asks itself.
class PlainFronts {
 public:
  explicit PlainFronts(const Plan& plan) {
    for (const PlannedProcedure& procedure : plan.procedures) {
      fronts_.push_back(FrontIn(procedure));
    }
  }

  struct Front {
    // What it shares; none if the procedure is no such front.
    int32_t body = -1;
    // Which of its arguments is the key.
    int32_t key_argument = 0;
  };

  bool Has(int32_t procedure) const { return fronts_[procedure].body >= 0; }
  const Front& operator[](int32_t procedure) const {
    return fronts_[procedure];
  }

 private:
  static Front FrontIn(const PlannedProcedure& procedure) {
    if (procedure.is_branch || procedure.stages.size() != 1) return {};
    const Stage& stage = procedure.stages.front();
    if (stage.block != kNoBlock || !stage.pushes.empty()) return {};
    if (stage.calls.size() != 1) return {};
    const CallSite& call = stage.calls.front();
    if (!call.key.has_value() || call.key->of_prologue()) return {};
    if (call.key->slot >= procedure.num_arguments) return {};
    for (size_t i = 0; i < procedure.outputs.size(); ++i) {
      const auto result = call.first_result + static_cast<int32_t>(i);
      if (procedure.outputs[i].slot != result) return {};
    }
    return {call.branches.front().procedure, call.key->slot};
  }

  // By procedure.
  std::vector<Front> fronts_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_PLAIN_FRONTS_H_
