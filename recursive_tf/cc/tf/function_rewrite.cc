#include "recursive_tf/cc/tf/function_rewrite.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/common_runtime/function_body.h"
#include "tensorflow/core/common_runtime/function_def_utils.h"
#include "tensorflow/core/common_runtime/graph_constructor.h"
#include "tensorflow/core/common_runtime/lower_functional_ops.h"
#include "tensorflow/core/common_runtime/optimization_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/graph_to_functiondef.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/public/session_options.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

absl::Status Lower(const tf::GraphOptimizationPassOptions& options) {
  for (tf::Node* node : (*options.graph)->op_nodes()) {
    if (node->IsIfNode() || node->IsCaseNode() || node->IsWhileNode()) {
      node->ClearAttr(tf::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr);
      node->AddAttr(tf::LowerFunctionalOpsPass::kLowerUsingSwitchMergeAttr,
                    true);
    }
  }
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
  options.graph = nullptr;
  options.partition_graphs = &partitions;
  TF_RETURN_IF_ERROR(tf::OptimizationPassRegistry::Global()->RunGrouping(
      tf::OptimizationPassRegistry::POST_PARTITIONING, options));
  *graph = std::move(partitions[device]);
  // A node name that starts with '_' is not valid in a function.
  for (tf::Node* node : (*graph)->op_nodes()) {
    if (absl::StartsWith(node->name(), "_")) {
      node->set_name(absl::StrCat("rewritten", node->name()));
    }
  }
  return absl::OkStatus();
}

// Returns which nodes must run although no output depends on them, as
// `function` says: a stateless call whose results nobody uses may still push or
// assert. The passes keep the names of nodes; a lowered conditional leaves a
// NoOp.
std::function<std::optional<std::string>(const tf::Node*)> ControlOutputsOf(
    const tf::FunctionDef& function) {
  std::unordered_map<std::string, std::string> output_of_node;
  for (const auto& [output, node] : function.control_ret()) {
    output_of_node[node] = output;
  }
  return [output_of_node = std::move(output_of_node)](
             const tf::Node* node) -> std::optional<std::string> {
    const auto found = output_of_node.find(node->name());
    if (found == output_of_node.end()) return std::nullopt;
    return found->second;
  };
}

}  // namespace

absl::Status RewriteForExecution(const std::string& name,
                                 const std::string& device,
                                 tf::FunctionLibraryDefinition* library,
                                 std::string* rewritten) {
  const tf::FunctionDef* function = library->Find(name);
  if (function == nullptr) {
    return absl::InternalError(
        absl::StrCat("Procedure '", name, "' is not in the function library."));
  }
  std::unique_ptr<tf::FunctionBody> body;
  TF_RETURN_IF_ERROR(
      tf::FunctionDefToBodyHelper(*function, tf::AttrSlice(), library, &body));
  auto graph = std::make_unique<tf::Graph>(library);
  tf::CopyGraph(*body->graph, graph.get());

  tf::SessionOptions session_options;
  tf::GraphOptimizationPassOptions options;
  options.session_options = &session_options;
  options.flib_def = library;
  options.is_function_graph = true;
  options.graph = &graph;
  TF_RETURN_IF_ERROR(Lower(options));
  TF_RETURN_IF_ERROR(RunPostPartitioning(device, options, &graph));

  *rewritten = absl::StrCat(name, "_rewritten");
  tf::FunctionDef definition;
  TF_RETURN_IF_ERROR(tf::GraphToFunctionDef(
      *graph, *rewritten, ControlOutputsOf(*function), &definition));
  return library->AddFunctionDef(definition);
}

}  // namespace recursive_tf
