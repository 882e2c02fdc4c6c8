#include "recursive_tf/cc/tf/limit_error.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/machine_memory.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/planted_fault.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status ReadLimits(tf::OpKernelConstruction* ctx,
                        ActivationLimits* limits) {
  TF_RETURN_IF_ERROR(ctx->GetAttr("max_depth", &limits->max_depth));
  TF_RETURN_IF_ERROR(ctx->GetAttr("max_activations", &limits->max_activations));
  TF_RETURN_IF_ERROR(ctx->GetAttr("max_bytes", &limits->max_bytes));
  constexpr int64_t kShareOfMemory = 10;
  if (limits->max_bytes < 0) {
    limits->max_bytes = MachineMemory() / kShareOfMemory;
  }
  return absl::OkStatus();
}

absl::Status LimitError(ActivationTree::Verdict verdict,
                        const ActivationLimits& limits) {
  if (verdict == ActivationTree::Verdict::kFault) return FaultOfATest();
  if (verdict == ActivationTree::Verdict::kTooDeep) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the recursion reached max_depth=", limits.max_depth,
        ". Check that the body has a base case that every input reaches; if "
        "it is meant to go deeper, pass options=rtf.Options(max_depth=...) to "
        "the SubGraph."));
  }
  if (verdict == ActivationTree::Verdict::kTooLarge) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the calls of the root call hold more than max_bytes=",
        limits.max_bytes,
        ". That many are most often due to a cycle in child indices, or to a "
        "base case that some input never reaches; if they are meant to hold "
        "more, pass options=rtf.Options(max_bytes=...) to the SubGraph."));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "the root call reached max_activations=", limits.max_activations,
      ". If it is meant to hold more calls at once, pass "
      "options=rtf.Options(max_activations=...) to the SubGraph."));
}

}  // namespace recursive_tf
