#ifndef RECURSIVE_TF_CC_BATCHING_LIVENESS_H_
#define RECURSIVE_TF_CC_BATCHING_LIVENESS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// When the slots of a procedure are read for the last time, so that values die
// with their last reader and not with their activation.
class Liveness {
 public:
  explicit Liveness(const PlannedProcedure& procedure)
      : last_stage_(procedure.num_slots, kNever),
        dying_(procedure.stages.size() + 1) {
    for (size_t k = 0; k < procedure.stages.size(); ++k) {
      Read(procedure, procedure.stages[k], static_cast<int32_t>(k));
    }
    const auto end = static_cast<int32_t>(procedure.stages.size());
    for (const Source& output : procedure.outputs) Read(output, end);
    if (procedure.goes_on.has_value()) {
      for (const Source& next : procedure.goes_on->arguments) Read(next, end);
    }
    for (int32_t slot = 0; slot < procedure.num_slots; ++slot) {
      const int32_t last = last_stage_[slot];
      if (last != kNever) dying_[last].push_back(slot);
    }
  }

  // Returns whether anything reads what is put into `slot`.
  bool IsRead(int32_t slot) const { return last_stage_[slot] != kNever; }

  // Returns the slots that nothing reads after `stage` has made its calls. What
  // the procedure returns dies after the stage that would come last.
  const std::vector<int32_t>& DyingAfter(int32_t stage) const {
    return dying_[stage];
  }

 private:
  static constexpr int32_t kNever = -1;

  void Read(const PlannedProcedure& procedure, const Stage& stage, int32_t k) {
    for (const StageInput& input : stage.inputs) {
      for (const Source& source : input) Read(source, k);
    }
    // How many items a block gave is read after it ran.
    for (const PlannedList& list : procedure.lists) {
      const int32_t output = list.slot - stage.first_output;
      if (output >= 0 && output < stage.num_outputs) Read(list.count, k);
    }
    for (const PlannedPush& push : stage.pushes) {
      Read(push.index, k);
      Read(push.value, k);
    }
    for (const CallSite& call : stage.calls) {
      if (call.selector.has_value()) Read(*call.selector, k);
      if (call.key.has_value()) Read(*call.key, k);
      for (const Branch& branch : call.branches) {
        for (const Source& argument : branch.arguments) Read(argument, k);
      }
    }
  }

  void Read(const Source& source, int32_t k) {
    if (!source.of_prologue()) last_stage_[source.slot] = k;
  }

  std::vector<int32_t> last_stage_;
  std::vector<std::vector<int32_t>> dying_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LIVENESS_H_
