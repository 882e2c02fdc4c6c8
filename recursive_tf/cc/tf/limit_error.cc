#include "recursive_tf/cc/tf/limit_error.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

absl::Status LimitError(ActivationTree::Verdict verdict,
                        const ActivationLimits& limits) {
  if (verdict == ActivationTree::Verdict::kTooDeep) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the recursion reached max_depth=", limits.max_depth,
        ". Check that the body has a base case that every input reaches; if "
        "it is meant to go deeper, pass options=rtf.Options(max_depth=...) to "
        "the SubGraph."));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "the root call reached max_activations=", limits.max_activations,
      ". If it is meant to hold more calls at once, pass "
      "options=rtf.Options(max_activations=...) to the SubGraph."));
}

}  // namespace recursive_tf
