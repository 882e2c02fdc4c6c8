#include "recursive_tf/cc/tf/procedures.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/common_runtime/local_executor_params.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

bool HasForeignState(const tf::Graph& graph) {
  for (const tf::Node* node : graph.op_nodes()) {
    if (IsStateful(*node) && !IsOwnOp(node->type_string())) return true;
  }
  return false;
}

}  // namespace

absl::Status ProgramSpec::Read(tf::OpKernelConstruction* ctx,
                               ProgramSpec* spec) {
  std::vector<tf::NameAttrList> functions;
  std::vector<std::string> names;
  std::vector<int32_t> counts;
  std::vector<int32_t> indices;
  TF_RETURN_IF_ERROR(ctx->GetAttr("procedures", &functions));
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &names));
  TF_RETURN_IF_ERROR(ctx->GetAttr("capture_counts", &counts));
  TF_RETURN_IF_ERROR(ctx->GetAttr("capture_indices", &indices));
  if (names.size() != functions.size() || counts.size() != functions.size()) {
    return absl::InvalidArgumentError(
        "procedures, names and capture_counts differ in length.");
  }
  for (const tf::NameAttrList& function : functions) {
    spec->functions.push_back(function.name());
  }
  spec->names =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  auto next = indices.begin();
  for (int32_t count : counts) {
    if (count < 0 || count > indices.end() - next) {
      return absl::InvalidArgumentError(
          "capture_counts do not fit capture_indices.");
    }
    spec->captures.emplace_back(next, next + count);
    next += count;
  }
  return absl::OkStatus();
}

Procedures::Procedures(const ProgramSpec& spec,
                       tf::FunctionLibraryRuntime* runtime)
    : names_(spec.names),
      runtime_(runtime),
      library_(*runtime->GetFunctionLibraryDefinition()) {}

absl::Status Procedures::Create(const ProgramSpec& spec,
                                tf::FunctionLibraryRuntime* runtime,
                                std::unique_ptr<Procedures>* procedures) {
  auto created = absl::WrapUnique(new Procedures(spec, runtime));
  for (size_t i = 0; i < spec.functions.size(); ++i) {
    TF_RETURN_IF_ERROR(created->Add(spec.functions[i], spec.captures[i]));
  }
  *procedures = std::move(created);
  return absl::OkStatus();
}

absl::Status Procedures::Add(const std::string& function,
                             std::vector<int> captures) {
  std::unique_ptr<tf::Graph> graph;
  TF_RETURN_IF_ERROR(
      BuildProcedureGraph(function, runtime_, &library_, &graph));
  std::unique_ptr<tf::Executor> executor;
  TF_RETURN_IF_ERROR(MakeExecutor(*graph, &executor));
  procedures_.push_back(std::make_unique<Procedure>(
      std::move(executor), std::move(captures),
      library_.Find(function)->signature().output_arg_size(),
      !HasForeignState(*graph)));
  return absl::OkStatus();
}

absl::Status Procedures::MakeExecutor(const tf::Graph& graph,
                                      std::unique_ptr<tf::Executor>* executor) {
  tf::LocalExecutorParams params;
  params.device = runtime_->device();
  params.function_library = runtime_;
  params.create_kernel =
      [this](const std::shared_ptr<const tf::NodeProperties>& props,
             tf::OpKernel** kernel) {
        TF_RETURN_IF_ERROR(
            tf::CreateNonCachedKernel(runtime_->device(), runtime_, props,
                                      runtime_->graph_def_version(), kernel));
        const bool waits =
            (*kernel)->AsAsync() != nullptr && !IsOwnOp(props->node_def.op());
        only_compute_ = only_compute_ && !waits;
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

}  // namespace recursive_tf
