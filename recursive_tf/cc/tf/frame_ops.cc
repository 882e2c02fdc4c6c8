#include "recursive_tf/cc/tf/frame_ops.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/replace_node.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Below that, there is nothing to join.
constexpr size_t kFewestToJoin = 2;

absl::Status ReadAttributes(const std::vector<tf::Node*>& nodes,
                            std::vector<int32_t>* indices,
                            std::vector<tf::DataType>* types) {
  for (const tf::Node* node : nodes) {
    TF_RETURN_IF_ERROR(
        tf::GetNodeAttr(node->attrs(), "index", &indices->emplace_back()));
    TF_RETURN_IF_ERROR(
        tf::GetNodeAttr(node->attrs(), "T", &types->emplace_back()));
  }
  return absl::OkStatus();
}

// Sets `*node` to an op of the type `type` for what `nodes` are for.
absl::Status AddOp(const char* type, const std::vector<tf::Node*>& nodes,
                   const std::vector<tf::NodeBuilder::NodeOut>& inputs,
                   tf::Graph* graph, tf::Node** node) {
  std::vector<int32_t> indices;
  std::vector<tf::DataType> types;
  TF_RETURN_IF_ERROR(ReadAttributes(nodes, &indices, &types));
  tf::NodeBuilder builder(graph->NewName(type), type);
  builder.Attr("T", types).Attr("indices", indices);
  if (!inputs.empty()) builder.Input(inputs);
  TF_RETURN_IF_ERROR(builder.Finalize(graph, node));
  (*node)->set_assigned_device_name(nodes.front()->assigned_device_name());
  return absl::OkStatus();
}

absl::Status JoinArguments(const std::vector<tf::Node*>& arguments,
                           tf::Graph* graph) {
  tf::Node* joined = nullptr;
  TF_RETURN_IF_ERROR(
      AddOp("RecursiveArguments", arguments, /*inputs=*/{}, graph, &joined));
  for (size_t i = 0; i < arguments.size(); ++i) {
    ReplaceNode(arguments[i], joined, static_cast<int>(i), graph);
  }
  return absl::OkStatus();
}

absl::Status JoinResults(const std::vector<tf::Node*>& results,
                         tf::Graph* graph) {
  std::vector<tf::NodeBuilder::NodeOut> values;
  for (const tf::Node* result : results) {
    const tf::Edge* edge = nullptr;
    TF_RETURN_IF_ERROR(result->input_edge(0, &edge));
    values.emplace_back(edge->src(), edge->src_output());
  }
  tf::Node* joined = nullptr;
  TF_RETURN_IF_ERROR(
      AddOp("RecursiveResults", results, values, graph, &joined));
  for (tf::Node* const result : results) {
    ReplaceNode(result, joined, /*first_output=*/0, graph);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JoinFrameOps(tf::Graph* graph) {
  std::vector<tf::Node*> arguments;
  std::vector<tf::Node*> results;
  for (tf::Node* const node : graph->op_nodes()) {
    if (node->IsArg()) arguments.push_back(node);
    if (node->IsRetval()) results.push_back(node);
  }
  if (arguments.size() >= kFewestToJoin) {
    TF_RETURN_IF_ERROR(JoinArguments(arguments, graph));
  }
  if (results.size() >= kFewestToJoin) {
    TF_RETURN_IF_ERROR(JoinResults(results, graph));
  }
  tf::FixupSourceAndSinkEdges(graph);
  return absl::OkStatus();
}

}  // namespace recursive_tf
