#include "recursive_tf/cc/tf/forward_run.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {
namespace {

std::string LimitMessage(ActivationTree::Verdict verdict,
                         const ActivationLimits& limits) {
  if (verdict == ActivationTree::Verdict::kTooDeep) {
    return absl::StrCat(
        "the recursion reached max_depth=", limits.max_depth,
        ". Check that the body has a base case that every input reaches; if "
        "it is meant to go deeper, pass options=rtf.Options(max_depth=...) to "
        "the SubGraph.");
  }
  return absl::StrCat(
      "the root call reached max_activations=", limits.max_activations,
      ". If it is meant to hold more calls at once, pass "
      "options=rtf.Options(max_activations=...) to the SubGraph.");
}

}  // namespace

absl::Status ForwardRun::Enter(const Invocation& invocation,
                               Activation** activation) {
  const ActivationTree::Verdict verdict =
      record->activations.Enter(invocation, activation);
  if (verdict == ActivationTree::Verdict::kEntered) return absl::OkStatus();
  const Activation refused{invocation.parent, invocation.procedure,
                           invocation.site, invocation.ordinal};
  return program.Stop(absl::ResourceExhaustedError(
                          LimitMessage(verdict, record->activations.limits())),
                      refused);
}

}  // namespace recursive_tf
