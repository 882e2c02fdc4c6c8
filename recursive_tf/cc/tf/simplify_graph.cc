#include "recursive_tf/cc/tf/simplify_graph.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/guards.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/graph/node_builder.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using Edges = std::vector<const tf::Edge*>;

// Control edges from and to ops. Those of the source and the sink, which every
// graph has, are made anew in the end.
Edges ControlEdges(const tf::EdgeSet& edges) {
  Edges found;
  for (const tf::Edge* edge : edges) {
    if (edge->IsControlEdge() && edge->src()->IsOp() && edge->dst()->IsOp()) {
      found.push_back(edge);
    }
  }
  return found;
}

Edges ValueEdges(const tf::EdgeSet& edges) {
  Edges found;
  for (const tf::Edge* edge : edges) {
    if (!edge->IsControlEdge()) found.push_back(edge);
  }
  return found;
}

// A list that stays as it is while the graph changes.
std::vector<tf::Node*> OpNodes(const tf::Graph& graph) {
  std::vector<tf::Node*> nodes;
  for (tf::Node* node : graph.op_nodes()) nodes.push_back(node);
  return nodes;
}

bool IsNoOp(const tf::Node& node) { return node.type_string() == "NoOp"; }

// One pass over a graph. The guards stay right all along: no step changes when
// a node runs, but for constants, which it lifts.
class Simplifier {
 public:
  explicit Simplifier(tf::Graph* graph) : graph_(graph), guards_(*graph) {}

  // Returns whether it changed anything.
  bool Run() {
    bool changed = false;
    for (tf::Node* node : OpNodes(*graph_)) {
      if (guards_.InLoop(*node)) continue;
      changed = RemoveIdleControlEdges(node) || changed;
      changed = LiftConstant(node) || changed;
      changed = BypassSwitches(node) || changed;
      changed = BypassIdentity(node) || changed;
      changed = BypassNoOp(node) || changed;
    }
    return changed;
  }

 private:
  // A control edge is idle if the node's other inputs are alive only if it is,
  // and it stands for no order among effects.
  bool RemoveIdleControlEdges(tf::Node* node) {
    bool changed = false;
    for (const tf::Edge* edge : ControlEdges(node->in_edges())) {
      if (guards_.FollowsEffect(*edge->src())) continue;
      if (!node->IsMerge() && !guards_.OthersImply(*node, *edge)) continue;
      graph_->RemoveControlEdge(edge);
      changed = true;
    }
    return changed;
  }

  // A constant of a branch may be there whatever branch is taken, if whatever
  // uses it has another input that is not.
  bool LiftConstant(tf::Node* node) {
    if (!node->IsConstant() || guards_.Of(*node).empty()) return false;
    if (guards_.FollowsEffect(*node)) return false;
    for (const tf::Edge* edge : node->out_edges()) {
      const tf::Node& user = *edge->dst();
      if (!user.IsOp()) continue;
      if (edge->IsControlEdge() || user.IsMerge() || user.IsRetval() ||
          guards_.InLoop(user) || !guards_.OthersImply(user, *node)) {
        return false;
      }
    }
    for (const tf::Edge* edge : ControlEdges(node->in_edges())) {
      graph_->RemoveControlEdge(edge);
    }
    guards_.Lift(*node);
    return true;
  }

  // Lets a node of a branch take a value from before the Switch, if another of
  // its inputs is there only in this branch anyway.
  bool BypassSwitches(tf::Node* node) {
    if (node->IsMerge()) return false;
    bool changed = false;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const tf::Edge* edge = nullptr;
      const tf::Edge* value = nullptr;
      if (!node->input_edge(i, &edge).ok()) continue;
      const tf::Node& source = *edge->src();
      if (!source.IsSwitch() || guards_.InLoop(source) ||
          !source.input_edge(0, &value).ok() || guards_.InLoop(*value->src()) ||
          !guards_.OthersImply(*node, *edge)) {
        continue;
      }
      changed =
          graph_->UpdateEdge(value->src(), value->src_output(), node, i).ok() ||
          changed;
    }
    return changed;
  }

  // Lets the users of a copy take the value itself.
  bool BypassIdentity(tf::Node* node) {
    if (!node->IsIdentity() || tf::IsRefType(node->output_type(0))) {
      return false;
    }
    if (!ControlEdges(node->in_edges()).empty()) return false;
    const tf::Edge* input = nullptr;
    if (!node->input_edge(0, &input).ok()) return false;
    tf::Node* source = input->src();
    if (guards_.InLoop(*source)) return false;
    const int output = input->src_output();
    bool changed = false;
    for (const tf::Edge* edge : ValueEdges(node->out_edges())) {
      changed =
          graph_->UpdateEdge(source, output, edge->dst(), edge->dst_input())
              .ok() ||
          changed;
    }
    // A control edge cannot tell the outputs of a Switch apart.
    if (source->IsSwitch()) return changed;
    for (const tf::Edge* edge : ControlEdges(node->out_edges())) {
      graph_->AddControlEdge(source, edge->dst());
      graph_->RemoveControlEdge(edge);
      changed = true;
    }
    return changed;
  }

  // Lets what waits for a no-op wait for what that waits for, unless this makes
  // more edges than there were.
  bool BypassNoOp(tf::Node* node) {
    if (!IsNoOp(*node)) return false;
    const Edges in = ControlEdges(node->in_edges());
    const Edges out = ControlEdges(node->out_edges());
    if (out.empty() || in.size() * out.size() > in.size() + out.size()) {
      return false;
    }
    for (const tf::Edge* after : out) {
      for (const tf::Edge* before : in) {
        graph_->AddControlEdge(before->src(), after->dst());
      }
      graph_->RemoveControlEdge(after);
    }
    return true;
  }

  tf::Graph* const graph_;
  Guards guards_;
};

// Returns where the value comes from that decides whether `pivot` runs, and
// which branch it stands for: lowering gives each branch one such copy of the
// predicate. Null if it is something else.
const tf::Edge* PredicateOfPivot(const tf::Node& pivot, int* branch) {
  const tf::Edge* value = nullptr;
  const tf::Edge* predicate = nullptr;
  if (!pivot.IsIdentity() || !pivot.input_edge(0, &value).ok() ||
      value->src()->type_string() != "Switch" ||
      !value->src()->input_edge(1, &predicate).ok()) {
    return nullptr;
  }
  *branch = value->src_output();
  return predicate;
}

// Lets a constant that is all that a branch returns, and so has to know of the
// branch, pass through a Switch, as what other branches return has done. It
// waited for a copy of the predicate before, which had to pass through one.
bool SwitchConstant(tf::Node* constant, tf::Graph* graph) {
  const Edges before = ControlEdges(constant->in_edges());
  if (!constant->IsConstant() || before.size() != 1 ||
      !ControlEdges(constant->out_edges()).empty()) {
    return false;
  }
  int branch = 0;
  const tf::Edge* predicate = PredicateOfPivot(*before.front()->src(), &branch);
  if (predicate == nullptr) return false;
  const Edges uses = ValueEdges(constant->out_edges());
  tf::Node* taken = nullptr;
  const absl::Status made =
      tf::NodeBuilder(graph->NewName(constant->name()), "Switch")
          .Input(constant, 0)
          .Input(predicate->src(), predicate->src_output())
          .Finalize(graph, &taken);
  if (!made.ok()) return false;
  for (const tf::Edge* use : uses) {
    graph->UpdateEdge(taken, branch, use->dst(), use->dst_input())
        .IgnoreError();
  }
  graph->RemoveControlEdge(before.front());
  return true;
}

bool SwitchConstants(tf::Graph* graph) {
  const Guards guards(*graph);
  bool changed = false;
  for (tf::Node* node : OpNodes(*graph)) {
    if (guards.InLoop(*node)) continue;
    changed = SwitchConstant(node, graph) || changed;
  }
  return changed;
}

// Results and effects. A call may push or assert although nobody uses what it
// returns.
bool IsNeeded(const tf::Node& node) {
  return node.IsRetval() || IsStateful(node) || IsCall(node.type_string());
}

void RemoveUnneeded(tf::Graph* graph) {
  std::unordered_set<const tf::Node*> needed;
  for (const tf::Node* node : graph->op_nodes()) {
    if (IsNeeded(*node)) needed.insert(node);
  }
  tf::PruneForReverseReachability(graph, std::move(needed));
  tf::FixupSourceAndSinkEdges(graph);
}

}  // namespace

void SimplifyGraph(tf::Graph* graph) {
  do {
    RemoveUnneeded(graph);
  } while (Simplifier(graph).Run() || SwitchConstants(graph));
}

}  // namespace recursive_tf
