#include "recursive_tf/cc/tf/scheduled_graph.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

namespace tf = tensorflow;

ScheduledGraph::ScheduledGraph(std::string schedule, const tf::Graph& graph)
    : schedule(std::move(schedule)),
      names(graph.num_node_ids()),
      types(graph.num_node_ids()),
      times(graph.num_node_ids()) {
  dependences.num_nodes = graph.num_node_ids();
  for (const tf::Node* node : graph.op_nodes()) {
    names[node->id()] = node->name();
    types[node->id()] = node->type_string();
  }
  for (const tf::Edge* edge : graph.edges()) {
    // What a turn of a loop gives to the next one makes no order in the graph.
    if (edge->src()->IsNextIteration()) continue;
    if (!edge->src()->IsOp() || !edge->dst()->IsOp()) continue;
    dependences.edges.emplace_back(edge->src()->id(), edge->dst()->id());
  }
}

std::vector<int64_t> ScheduledGraph::MedianTimes() const {
  std::vector<int64_t> medians;
  medians.reserve(times.size());
  for (const OpTimes& each : times) medians.push_back(each.Median());
  return medians;
}

ScheduledGraphs& ScheduledGraphs::Global() {
  static auto* graphs = new ScheduledGraphs;
  return *graphs;
}

void ScheduledGraphs::Add(const std::shared_ptr<ScheduledGraph>& graph) {
  const std::lock_guard<std::mutex> lock(mu_);
  graphs_.erase(std::remove_if(graphs_.begin(), graphs_.end(),
                               [](const auto& each) { return each.expired(); }),
                graphs_.end());
  graphs_.push_back(graph);
}

std::vector<std::shared_ptr<ScheduledGraph>> ScheduledGraphs::All() {
  const std::lock_guard<std::mutex> lock(mu_);
  std::vector<std::shared_ptr<ScheduledGraph>> living;
  for (const auto& each : graphs_) {
    if (auto graph = each.lock()) living.push_back(std::move(graph));
  }
  return living;
}

}  // namespace recursive_tf
