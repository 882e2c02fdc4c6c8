#ifndef RECURSIVE_TF_CC_TF_MAKE_EXECUTOR_H_
#define RECURSIVE_TF_CC_TF_MAKE_EXECUTOR_H_

#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Sets `*executor` to one for `graph`, with kernels of its own. Calls
// `on_kernel` for each of them. Its operations run on teams if there is a
// `schedule`; its call frames are DeepFrames if it `is_in_calls`. `runtime`
// must outlive the executor.
absl::Status MakeExecutor(const tensorflow::Graph& graph,
                          tensorflow::FunctionLibraryRuntime* runtime,
                          std::function<void(tensorflow::OpKernel*)> on_kernel,
                          const std::optional<TeamSchedule>& schedule,
                          bool is_in_calls,
                          std::unique_ptr<tensorflow::Executor>* executor);

// Returns arguments for executors that run within the root op of `root`: the
// same step, rendezvous and so on. Runner and cancellation are not set.
tensorflow::Executor::Args StepOf(tensorflow::OpKernelContext* root);

// Returns what is cancelled with `parent`, if that is not null: a program that
// runs TensorFlow may give a step nothing to cancel it by.
std::unique_ptr<tensorflow::CancellationManager> ChildOf(
    tensorflow::CancellationManager* parent);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_MAKE_EXECUTOR_H_
