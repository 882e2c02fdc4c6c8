#include "recursive_tf/cc/tf/make_executor.h"

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status MakeExecutor(const tf::Graph& graph,
                          tf::FunctionLibraryRuntime* runtime,
                          std::function<void(tf::OpKernel*)> on_kernel,
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
  return args;
}

}  // namespace recursive_tf
