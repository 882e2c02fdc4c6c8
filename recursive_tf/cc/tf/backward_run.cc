#include "recursive_tf/cc/tf/backward_run.h"

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/tf/procedures.h"

namespace recursive_tf {

absl::Status BackwardRun::CheckCall(const Activation& activation,
                                    int num_arguments, int num_results) const {
  const Procedures& procedures = program.procedures();
  if (activation.procedure < procedures.size()) {
    const Procedure& callee = procedures[activation.procedure];
    // That of a shared invocation returns to nobody.
    if (callee.num_arguments == num_arguments &&
        (callee.num_results == num_results || num_results == kNoResults)) {
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      "A call of a gradient does not fit what the forward call ran there. Save "
      "the model again.");
}

}  // namespace recursive_tf
