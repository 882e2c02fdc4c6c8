#include "recursive_tf/cc/tf/narrow_graph.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

bool WaitsForAnOp(const tf::Node& node) {
  return std::any_of(node.in_edges().begin(), node.in_edges().end(),
                     [](const tf::Edge* edge) { return edge->src()->IsOp(); });
}

void LeaveOneStart(tf::Graph* graph) {
  std::vector<tf::Node*> starts;
  for (tf::Node* node : graph->op_nodes()) {
    if (!WaitsForAnOp(*node)) starts.push_back(node);
  }
  for (size_t i = 1; i < starts.size(); ++i) {
    graph->AddControlEdge(starts.front(), starts[i]);
  }
}

// The users of a call wait for a no-op that waits for the call. Where the call
// is dead they are as well, so this changes nothing for a Merge.
void LeaveOneSuccessor(tf::Node* call, tf::Graph* graph) {
  std::map<int, tf::Node*> users;  // By id: a user may take several outputs.
  for (tf::Node* user : call->out_nodes()) {
    if (user->IsOp()) users[user->id()] = user;
  }
  if (users.size() < 2) return;
  tf::Node* first = nullptr;
  const absl::Status made =
      tf::NodeBuilder(graph->NewName(call->name()), "NoOp")
          .ControlInput(call)
          .Finalize(graph, &first);
  if (!made.ok()) return;
  first->set_assigned_device_name(call->assigned_device_name());
  for (const auto& [id, user] : users) graph->AddControlEdge(first, user);
}

}  // namespace

void NarrowGraph(tf::Graph* graph) {
  std::vector<tf::Node*> calls;
  for (tf::Node* node : graph->op_nodes()) {
    if (IsCall(node->type_string())) calls.push_back(node);
  }
  for (tf::Node* call : calls) LeaveOneSuccessor(call, graph);
  LeaveOneStart(graph);
  tf::FixupSourceAndSinkEdges(graph);
}

}  // namespace recursive_tf
