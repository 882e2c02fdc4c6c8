#include "recursive_tf/cc/tf/backward_run.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/util/determinism.h"

namespace recursive_tf {

absl::Status BackwardRun::CheckDeterminism(const std::string& subgraph) {
  if (!tensorflow::OpDeterminismRequired()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "SubGraph '", subgraph,
      "' has no deterministic gradients. Gradients in the dataflow executor "
      "add up in the order in which calls end, and "
      "tf.config.experimental.enable_op_determinism() was called. Use the "
      "batched executor: rtf.explain(...) says why a program does not run in "
      "it."));
}

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
