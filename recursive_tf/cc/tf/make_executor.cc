#include "recursive_tf/cc/tf/make_executor.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/team_executor.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/device.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/threadpool.h"
#include "tensorflow/core/platform/threadpool_interface.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Returns the threads that kernels are to use other than the device's, or null.
// A step that has any sees a device of its own, which has them.
tf::thread::ThreadPoolInterface* UsersThreads(tf::OpKernelContext* root) {
  const auto* used = root->device()->tensorflow_cpu_worker_threads();
  const auto* own =
      root->function_library()->device()->tensorflow_cpu_worker_threads();
  if (used == nullptr || own == nullptr || used->workers == own->workers) {
    return nullptr;
  }
  return dynamic_cast<tf::thread::ThreadPoolInterface*>(
      used->workers->AsEigenThreadPool());
}

}  // namespace

absl::Status MakeExecutor(const tf::Graph& graph,
                          tf::FunctionLibraryRuntime* runtime,
                          std::function<void(tf::OpKernel*)> on_kernel,
                          const std::optional<TeamSchedule>& schedule,
                          bool is_in_calls,
                          std::unique_ptr<tf::Executor>* executor) {
  tf::LocalExecutorParams params;
  params.device = runtime->device();
  params.function_library = runtime;
  params.create_kernel =
      [runtime, on_kernel = std::move(on_kernel)](
          const std::shared_ptr<const tf::NodeProperties>& props,
          tf::OpKernel** kernel) {
        TF_RETURN_IF_ERROR(
            tf::CreateNonCachedKernel(runtime->device(), runtime, props,
                                      runtime->graph_def_version(), kernel));
        on_kernel(*kernel);
        return absl::OkStatus();
      };
  params.delete_kernel = [](tf::OpKernel* kernel) {
    tf::DeleteNonCachedKernel(kernel);
  };
  if (schedule.has_value()) {
    return NewTeamExecutor(*schedule, is_in_calls, params, graph, executor);
  }
  tf::Executor* made = nullptr;
  TF_RETURN_IF_ERROR(tf::NewLocalExecutor(params, graph, &made));
  executor->reset(made);
  return absl::OkStatus();
}

tf::Executor::Args StepOf(tf::OpKernelContext* root) {
  tf::Executor::Args args;
  args.step_id = root->step_id();
  args.rendezvous = root->rendezvous();
  args.stats_collector = root->stats_collector();
  args.step_container = root->step_container();
  args.collective_executor = root->collective_executor();
  args.deadline = root->deadline();
  args.user_intra_op_threadpool = UsersThreads(root);
  return args;
}

std::unique_ptr<tf::CancellationManager> ChildOf(
    tf::CancellationManager* parent) {
  return parent == nullptr ? std::make_unique<tf::CancellationManager>()
                           : std::make_unique<tf::CancellationManager>(parent);
}

}  // namespace recursive_tf
