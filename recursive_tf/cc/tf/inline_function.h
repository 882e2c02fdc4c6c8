#ifndef RECURSIVE_TF_CC_TF_INLINE_FUNCTION_H_
#define RECURSIVE_TF_CC_TF_INLINE_FUNCTION_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// A function that runs on the thread that calls it, op by op. Kernels still
// use the threads of the device for large work. Where its last run took long,
// threads of the step's runner help, so that ops of independent branches run
// side by side: a block may be a whole network for one activation. What the
// function gives as it got it, e.g. a prologue a weight, needs no op.
//
// Thread safety: Run may be called from any thread.
class InlineFunction {
 public:
  // An input that is an output as it is.
  struct HandedOn {
    int input;
    int output;
  };

  // `edit`, if there is one, changes the body first. With a `schedule` its ops
  // run on teams, for which Run waits.
  static absl::Status Create(const std::string& name,
                             tensorflow::FunctionLibraryRuntime* runtime,
                             tensorflow::FunctionLibraryDefinition* library,
                             const GraphEdit& edit,
                             const std::optional<TeamSchedule>& schedule,
                             std::unique_ptr<InlineFunction>* function);

  // Sets `*outputs`. Kernels may write to the memory of `inputs` that nobody
  // else holds. `step` is as from StepOf, with a cancellation manager; and with
  // a runner, if there are threads to help.
  absl::Status Run(tensorflow::Executor::Args step,
                   std::vector<tensorflow::Tensor> inputs,
                   std::vector<tensorflow::Tensor>* outputs) const;

 private:
  InlineFunction(std::unique_ptr<tensorflow::Executor> executor,
                 std::vector<HandedOn> handed_on, int num_inputs,
                 int num_outputs, bool may_be_helped)
      : executor_(std::move(executor)),
        handed_on_(std::move(handed_on)),
        num_inputs_(num_inputs),
        num_outputs_(num_outputs),
        may_be_helped_(may_be_helped) {}

  // Runs the ops that there are.
  absl::Status RunOps(tensorflow::Executor::Args step) const;

  // Null if there are no ops.
  const std::unique_ptr<tensorflow::Executor> executor_;
  const std::vector<HandedOn> handed_on_;
  const int num_inputs_;
  const int num_outputs_;
  const bool may_be_helped_;
  // Whether the last run was long enough for help.
  mutable std::atomic<bool> is_long_{false};
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_INLINE_FUNCTION_H_
