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

void ForwardRun::RecordShared() {
  for (const auto& outcomes : shared.ByHeight()) {
    std::vector<const Activation*>& activations = record->shared.emplace_back();
    for (const SharedOutcome* outcome : outcomes) {
      activations.push_back(outcome->activation);
    }
  }
}

}  // namespace recursive_tf
