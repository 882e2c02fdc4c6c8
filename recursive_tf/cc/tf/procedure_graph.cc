#include "recursive_tf/cc/tf/procedure_graph.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/pool_gradients.h"
#include "recursive_tf/cc/tf/rewrite_network.h"
#include "recursive_tf/cc/tf/simplify_graph.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/graph_optimizer.h"
#include "tensorflow/core/common_runtime/lower_functional_ops.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/public/session_options.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

absl::Status Lower(tf::GraphOptimizationPassOptions options,
                   std::unique_ptr<tf::Graph>* graph) {
  for (tf::Node* node : (*graph)->op_nodes()) {
    if (node->IsIfNode() || node->IsCaseNode() || node->IsWhileNode()) {
      node->ClearAttr(tf::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr);
      node->AddAttr(tf::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr,
                    true);
    }
  }
  options.graph = graph;
  return tf::LowerFunctionalOpsPass().Run(options);
}

// Runs the passes that come after partitioning on `*graph`, as one partition.
absl::Status RunPostPartitioning(const std::string& device,
                                 tf::GraphOptimizationPassOptions options,
                                 std::unique_ptr<tf::Graph>* graph) {
  for (tf::Node* node : (*graph)->op_nodes()) {
    node->set_assigned_device_name(device);
  }
  std::unordered_map<std::string, std::unique_ptr<tf::Graph>> partitions;
  partitions[device] = std::move(*graph);
  options.partition_graphs = &partitions;
  TF_RETURN_IF_ERROR(tf::OptimizationPassRegistry::Global()->RunGrouping(
      tf::OptimizationPassRegistry::POST_PARTITIONING, options));
  *graph = std::move(partitions[device]);
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyBody(const std::string& name,
                      tf::FunctionLibraryDefinition* library,
                      std::unique_ptr<tf::Graph>* graph) {
  const tf::FunctionDef* function = library->Find(name);
  if (function == nullptr) {
    return absl::InternalError(
        absl::StrCat("Procedure '", name, "' is not in the function library."));
  }
  std::unique_ptr<tf::FunctionBody> body;
  TF_RETURN_IF_ERROR(
      tf::FunctionDefToBodyHelper(*function, tf::AttrSlice(), library, &body));
  *graph = std::make_unique<tf::Graph>(library);
  tf::CopyGraph(*body->graph, graph->get());
  return absl::OkStatus();
}

absl::Status BuildProcedureGraph(const std::string& name,
                                 tf::FunctionLibraryRuntime* runtime,
                                 tf::FunctionLibraryDefinition* library,
                                 std::unique_ptr<tf::Graph>* graph,
                                 const GraphEdit& edit) {
  TF_RETURN_IF_ERROR(CopyBody(name, library, graph));
  if (edit != nullptr) edit(graph->get());
  tf::SessionOptions session_options;
  tf::GraphOptimizationPassOptions options;
  options.session_options = &session_options;
  options.flib_def = library;
  options.is_function_graph = true;
  TF_RETURN_IF_ERROR(Lower(options, graph));
  TF_RETURN_IF_ERROR(RewriteNetwork(name, runtime->device(), *library, graph));
  tf::OptimizeGraph(runtime, graph);
  ReplacePoolGradients(graph->get());
  SimplifyGraph(graph->get());
  return RunPostPartitioning(runtime->device()->name(), options, graph);
}

}  // namespace recursive_tf
