#ifndef RECURSIVE_TF_CC_BATCHING_ADMISSION_H_
#define RECURSIVE_TF_CC_BATCHING_ADMISSION_H_

#include <cstdint>

#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Counts the invocations of a run in flight, and says whether there may be one
// more.
class Admission {
 public:
  explicit Admission(ActivationLimits limits) : limits_(limits) {}

  // Says how many bytes the values of all activations hold by now.
  void set_num_bytes(int64_t num_bytes) { num_bytes_ = num_bytes; }

  // Judges an invocation that is so deep in calls, where activations
  // themselves take so many bytes.
  ActivationTree::Verdict Judge(int32_t depth, int64_t bytes) const {
    if (Faults::Global().Strikes(Faults::Kind::kActivation)) {
      return ActivationTree::Verdict::kFault;
    }
    if (limits_.IsTooDeep(depth)) return ActivationTree::Verdict::kTooDeep;
    if (limits_.IsTooLarge(num_bytes_ + bytes)) {
      return ActivationTree::Verdict::kTooLarge;
    }
    if (limits_.IsReached(num_invocations_)) {
      return ActivationTree::Verdict::kTooMany;
    }
    return ActivationTree::Verdict::kEntered;
  }

  void Enter() { ++num_invocations_; }
  void Leave(int64_t count = 1) { num_invocations_ -= count; }
  int64_t num_invocations() const { return num_invocations_; }

 private:
  const ActivationLimits limits_;
  int64_t num_invocations_ = 0;
  int64_t num_bytes_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ADMISSION_H_
