#include "recursive_tf/cc/tf/guards.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "recursive_tf/cc/tf/own_ops.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/control_flow.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

bool HasEffect(const tf::Node& node) {
  return IsStateful(node) && !IsSeenByRootOnly(node.type_string());
}

// Follows copies back to where the value comes from.
Guard GuardOf(const tf::Node& switch_node, int branch) {
  const tf::Edge* edge = nullptr;
  const int num_branches = switch_node.num_outputs();
  if (!switch_node.input_edge(1, &edge).ok()) {
    return {&switch_node, 0, branch, num_branches};
  }
  while (edge->src()->IsIdentity() && edge->src()->input_edge(0, &edge).ok()) {
  }
  return {edge->src(), edge->src_output(), branch, num_branches};
}

Guards::Set Intersection(const Guards::Set& a, const Guards::Set& b) {
  Guards::Set both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(),
                        std::inserter(both, both.end()));
  return both;
}

bool Includes(const Guards::Set& all, const Guards::Set& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

Guards::Guards(const tf::Graph& graph)
    : of_node_(graph.num_node_ids()),
      follows_effect_(graph.num_node_ids(), false),
      in_loop_(graph.num_node_ids(), false) {
  FindLoops(graph);
  std::vector<tf::Node*> order;
  tf::GetReversePostOrder(
      graph, &order, tf::NodeComparatorID(),
      [](const tf::Edge& edge) { return !edge.src()->IsNextIteration(); });
  for (const tf::Node* node : order) Visit(*node);
}

void Guards::FindLoops(const tf::Graph& graph) {
  std::vector<tf::ControlFlowInfo> info;
  const bool known = tf::BuildControlFlowInfo(&graph, &info).ok();
  for (const tf::Node* node : graph.op_nodes()) {
    in_loop_[node->id()] =
        !known || (info[node->id()].frame != nullptr &&
                   info[node->id()].frame->id() != tf::Graph::kSourceId);
  }
}

void Guards::Visit(const tf::Node& node) {
  bool follows = InLoop(node) || HasEffect(node);
  Set guards;
  bool first_value = true;
  for (const tf::Edge* edge : node.in_edges()) {
    follows = follows || FollowsEffect(*edge->src());
    if (InLoop(node)) continue;
    Set of_edge = Of(*edge);
    if (!node.IsMerge()) {
      guards.merge(of_edge);
    } else if (!edge->IsControlEdge()) {
      // A Merge runs as soon as one value is there.
      guards = first_value ? of_edge : Intersection(guards, of_edge);
      first_value = false;
    }
  }
  follows_effect_[node.id()] = follows;
  of_node_[node.id()] = std::move(guards);
}

Guards::Set Guards::Of(const tf::Edge& edge) const {
  const tf::Node& source = *edge.src();
  Set guards = Of(source);
  if (source.IsSwitch() && !edge.IsControlEdge() && !InLoop(source)) {
    guards.insert(GuardOf(source, edge.src_output()));
  }
  return guards;
}

bool Guards::OthersImply(const tf::Node& node, const tf::Edge& edge) const {
  Set others;
  for (const tf::Edge* other : node.in_edges()) {
    if (other != &edge) others.merge(Of(*other));
  }
  return Includes(others, Of(edge));
}

bool Guards::OthersImply(const tf::Node& node, const tf::Node& source) const {
  Set others;
  for (const tf::Edge* other : node.in_edges()) {
    if (other->src() != &source) others.merge(Of(*other));
  }
  return Includes(others, Of(source));
}

}  // namespace recursive_tf
