#ifndef RECURSIVE_TF_CC_TF_BACKWARD_RUN_H_
#define RECURSIVE_TF_CC_TF_BACKWARD_RUN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/backprop/capture_gradients.h"
#include "recursive_tf/cc/backprop/shared_gradients.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// One backward root call while it runs: gradient procedures for the activations
// that the forward call kept.
//
// Thread safety: that of each part.
struct BackwardRun {
  using Sinks = CaptureGradients<tensorflow::Tensor, absl::Status>;
  using Shared = SharedGradients<Activation, tensorflow::Tensor, absl::Status>;

  BackwardRun(const Procedures* procedures,
              std::vector<tensorflow::Tensor> captures, bool mapped,
              tensorflow::OpKernelContext* root,
              std::shared_ptr<const ForwardRecord> forward)
      : program(procedures, std::move(captures), mapped, root),
        forward(std::move(forward)) {}

  static constexpr int kNoResults = -1;

  // Returns an error if the same gradients are asked for each time: here they
  // add up in the order in which calls end.
  static absl::Status CheckDeterminism(const std::string& subgraph);

  // Returns an error unless the gradient of what `activation` runs takes and
  // returns so many values. A gradient's call sites do not say what they call:
  // that is what the forward call ran there.
  absl::Status CheckCall(const Activation& activation, int num_arguments,
                         int num_results) const;

  ProgramRun program;
  const std::shared_ptr<const ForwardRecord> forward;
  std::unique_ptr<Sinks> sinks;
  // Of the results of shared invocations.
  Shared shared{&AddTensors};
  std::vector<tensorflow::Tensor> push_gradients;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BACKWARD_RUN_H_
