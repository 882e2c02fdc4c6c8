#include "recursive_tf/cc/tf/forward_run.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/limit_error.h"

namespace recursive_tf {

absl::Status ForwardRun::Enter(const Invocation& invocation,
                               Activation** activation) {
  const int64_t bytes =
      program.procedures()[invocation.procedure].bytes_per_call;
  const ActivationTree::Verdict verdict =
      record->activations.Enter(invocation, activation, bytes);
  if (verdict == ActivationTree::Verdict::kEntered) return absl::OkStatus();
  return program.Stop(LimitError(verdict, record->activations.limits()),
                      record->activations.Describe(invocation));
}

absl::Status ForwardRun::CheckRoom(const Invocation& invocation,
                                   int64_t num_rows) {
  const ActivationLimits& limits = record->activations.limits();
  const int64_t bytes =
      program.procedures()[invocation.procedure].bytes_per_call;
  ActivationTree::Verdict verdict = ActivationTree::Verdict::kEntered;
  if (num_rows > 0 && limits.IsReached(num_rows - 1)) {
    verdict = ActivationTree::Verdict::kTooMany;
  } else if (bytes > 0 && num_rows > 0 && limits.max_bytes > 0 &&
             num_rows > limits.max_bytes / bytes) {
    verdict = ActivationTree::Verdict::kTooLarge;
  }
  if (verdict == ActivationTree::Verdict::kEntered) return absl::OkStatus();
  return program.Stop(LimitError(verdict, limits),
                      record->activations.Describe(invocation));
}

void ForwardRun::RecordShared() {
  for (const auto& outcomes : shared.ByHeight()) {
    std::vector<const Activation*>& activations = record->shared.emplace_back();
    for (const SharedOutcome* outcome : outcomes) {
      activations.push_back(outcome->activation);
    }
  }
}

}  // namespace recursive_tf
