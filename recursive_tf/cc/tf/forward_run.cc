#include "recursive_tf/cc/tf/forward_run.h"

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/limit_error.h"

namespace recursive_tf {

absl::Status ForwardRun::Enter(const Invocation& invocation,
                               Activation** activation) {
  const ActivationTree::Verdict verdict =
      record->activations.Enter(invocation, activation);
  if (verdict == ActivationTree::Verdict::kEntered) return absl::OkStatus();
  const Activation refused{invocation.parent, invocation.procedure,
                           invocation.site, invocation.ordinal};
  return program.Stop(LimitError(verdict, record->activations.limits()),
                      refused);
}

}  // namespace recursive_tf
