#ifndef RECURSIVE_TF_CC_TF_FORWARD_RUN_H_
#define RECURSIVE_TF_CC_TF_FORWARD_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/backprop/backprop_cache.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/ordinals.h"
#include "recursive_tf/cc/runtime/shared_invocations.h"
#include "recursive_tf/cc/tf/kept_bytes.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// What one forward root call leaves for its gradient. It lives until the last
// handle of the root call dies.
//
// Thread safety: that of each part, while the call runs; then nothing changes.
struct ForwardRecord {
  ForwardRecord(ActivationLimits limits, bool keep)
      : activations(limits, keep) {}

  const Census::One census{Census::Kind::kRecords};
  ActivationTree activations;
  BackpropCache<tensorflow::Tensor> cache;
  KeptBytes bytes;
  // The invocations that the root call made itself, one a row.
  std::vector<const Activation*> roots;
  // The shared invocations, each after all those that it needed: what stands
  // side by side depends on none of these.
  std::vector<std::vector<const Activation*>> shared;
  // The arguments of a map over no rows: what its gradient looks like.
  std::vector<tensorflow::Tensor> no_rows;
  Returned returned;
};

// What came of a shared invocation.
struct SharedOutcome {
  // What those that asked for it are told.
  absl::Status status;
  std::vector<tensorflow::Tensor> results;
  // Only readable where activations are kept.
  const Activation* activation = nullptr;
};

// One forward root call while it runs. Inner handles point to it.
//
// Thread safety: Enter may be called from any thread, and the parts are used as
// each of them says; RecordShared after all calls have ended.
class ForwardRun {
 public:
  ForwardRun(const Procedures* procedures,
             std::vector<tensorflow::Tensor> captures, bool mapped,
             tensorflow::OpKernelContext* root,
             std::shared_ptr<ForwardRecord> record)
      : program(procedures, std::move(captures), mapped, root),
        record(std::move(record)) {}

  // Makes the activation of `invocation`. If a limit is reached, stops the run
  // and returns the error, which names the path and the option to raise.
  absl::Status Enter(const Invocation& invocation, Activation** activation);

  // Stops the run, and returns the error, if so many invocations, the first of
  // which is `invocation`, cannot be entered at once.
  absl::Status CheckRoom(const Invocation& invocation, int64_t num_rows);

  // Leaves the shared invocations to the gradient. REQUIRES: all is done.
  void RecordShared();

  ProgramRun program;
  const std::shared_ptr<ForwardRecord> record;
  Ordinals ordinals;
  SharedInvocations<SharedOutcome> shared;
  std::vector<std::unique_ptr<PushTable>> pushes;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FORWARD_RUN_H_
