#include "recursive_tf/cc/scheduling/levels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace recursive_tf {
namespace {

using Neighbors = std::vector<std::vector<int>>;

Neighbors SuccessorsOf(const Dependences& graph) {
  Neighbors successors(graph.num_nodes);
  for (const auto& [from, to] : graph.edges) successors[from].push_back(to);
  return successors;
}

// Returns the nodes so that each comes after all that it waits for.
std::vector<int> InOrder(const Dependences& graph,
                         const Neighbors& successors) {
  std::vector<int> num_waits(graph.num_nodes, 0);
  for (const auto& [from, to] : graph.edges) ++num_waits[to];
  std::vector<int> order;
  order.reserve(graph.num_nodes);
  for (int node = 0; node < graph.num_nodes; ++node) {
    if (num_waits[node] == 0) order.push_back(node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int next : successors[order[i]]) {
      if (--num_waits[next] == 0) order.push_back(next);
    }
  }
  return order;
}

}  // namespace

Levels LevelsOf(const Dependences& graph, const std::vector<int64_t>& times) {
  const Neighbors successors = SuccessorsOf(graph);
  const std::vector<int> order = InOrder(graph, successors);
  Levels levels;
  levels.values = times;
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    int64_t rest = 0;
    for (const int next : successors[*node]) {
      rest = std::max(rest, levels.values[next]);
    }
    levels.values[*node] = times[*node] + rest;
  }
  // A node is on a longest path if what comes before it and its level add up.
  std::vector<int64_t> starts(graph.num_nodes, 0);
  int64_t longest = 0;
  for (const int node : order) {
    longest = std::max(longest, starts[node] + levels.values[node]);
    for (const int next : successors[node]) {
      starts[next] = std::max(starts[next], starts[node] + times[node]);
    }
  }
  levels.is_critical.resize(graph.num_nodes);
  for (const int node : order) {
    levels.is_critical[node] = starts[node] + levels.values[node] == longest;
  }
  return levels;
}

}  // namespace recursive_tf
