#ifndef RECURSIVE_TF_CC_TESTING_LAUNCH_GRAPHS_H_
#define RECURSIVE_TF_CC_TESTING_LAUNCH_GRAPHS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/launch_graph.h"

// Launch graphs for tests, and the fewest launches that they can be worked off
// with, found without the code under test.

namespace recursive_tf {

// The tree of Gu et al. 2023, figure 1: four leaves, each joined to what is
// before it. Blocks 0, 1, 2 are its I (a node), O (its output) and R (all
// outputs reduced). All are of one rank, as in the paper, which has none.
inline LaunchGraph TreeOfFigure1() {
  LaunchGraph graph({0, 0, 0});
  std::vector<int32_t> nodes;
  for (int leaf = 0; leaf < 4; ++leaf) nodes.push_back(graph.Add(0, {}));
  int32_t top = nodes[0];
  for (int leaf = 1; leaf < 4; ++leaf) {
    top = graph.Add(0, {top, nodes[leaf]});
    nodes.push_back(top);
  }
  std::vector<int32_t> outputs;
  for (const int32_t node : nodes) outputs.push_back(graph.Add(1, {node}));
  graph.Add(2, outputs);
  return graph;
}

// Chains of nodes of given blocks, each waiting for the one before it.
inline LaunchGraph Chains(const std::vector<std::vector<int32_t>>& chains,
                          int32_t num_blocks) {
  LaunchGraph graph(std::vector<int32_t>(num_blocks, 0));
  for (const std::vector<int32_t>& chain : chains) {
    std::vector<int32_t> before;
    for (const int32_t block : chain) before = {graph.Add(block, before)};
  }
  return graph;
}

// A graph of any form, in which nodes wait for up to two others. With ranks,
// each for two blocks, none waits for one of a higher rank.
inline LaunchGraph RandomLaunchGraph(int32_t num_nodes, int32_t num_blocks,
                                     std::mt19937_64* random,
                                     bool with_ranks = false) {
  const auto below = [random](int32_t end) {
    return std::uniform_int_distribution<int32_t>(0, end - 1)(*random);
  };
  std::vector<int32_t> ranks(num_blocks, 0);
  for (int32_t block = 0; with_ranks && block < num_blocks; ++block) {
    ranks[block] = block / 2;
  }
  LaunchGraph graph(ranks);
  for (int32_t node = 0; node < num_nodes; ++node) {
    const int32_t own = below(num_blocks);
    std::vector<int32_t> waits_for;
    for (int32_t i = node == 0 ? 0 : below(3); i > 0; --i) {
      const int32_t before = below(node);
      if (ranks[graph.block(before)] <= ranks[own]) waits_for.push_back(before);
    }
    std::sort(waits_for.begin(), waits_for.end());
    waits_for.erase(std::unique(waits_for.begin(), waits_for.end()),
                    waits_for.end());
    graph.Add(own, waits_for);
  }
  return graph;
}

// Sets of nodes of a small graph, as bits: what was launched.
class SmallGraph {
 public:
  // REQUIRES: at most 32 nodes.
  explicit SmallGraph(const LaunchGraph* graph)
      : graph_(*graph), waits_(graph->num_nodes(), 0) {
    for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
      graph_.ForEachWait(node,
                         [&](int32_t before) { waits_[node] |= Bit(before); });
    }
  }

  uint64_t all() const { return Bit(graph_.num_nodes()) - 1; }

  // Returns the nodes of a block that wait for nothing that is left.
  uint64_t Ready(uint64_t launched, int32_t block) const {
    uint64_t ready = 0;
    for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
      const bool is_left = (launched & Bit(node)) == 0;
      if (is_left && graph_.block(node) == block &&
          (waits_[node] & ~launched) == 0) {
        ready |= Bit(node);
      }
    }
    return ready;
  }

  // Returns the nodes of a block that are left and wait for no other of these,
  // directly or not.
  uint64_t SubFrontier(uint64_t launched, int32_t block) const {
    uint64_t found = 0;
    std::vector<uint64_t> ancestors(graph_.num_nodes(), 0);
    uint64_t of_block = 0;
    for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
      graph_.ForEachWait(node, [&](int32_t before) {
        ancestors[node] |= ancestors[before] | Bit(before);
      });
      if (graph_.block(node) != block || (launched & Bit(node)) != 0) continue;
      of_block |= Bit(node);
      if ((ancestors[node] & of_block) == 0) found |= Bit(node);
    }
    return found;
  }

  // Returns the fewest launches for what is left, by trying all orders, or all
  // in which the lowest rank goes first.
  int64_t FewestLaunches(uint64_t launched, bool by_rank = false) const {
    std::unordered_set<uint64_t> reached = {launched};
    for (int64_t launches = 0;; ++launches) {
      std::unordered_set<uint64_t> next;
      for (const uint64_t set : reached) {
        if (set == all()) return launches;
        int32_t lowest = std::numeric_limits<int32_t>::max();
        for (int32_t block = 0; by_rank && block < graph_.num_blocks();
             ++block) {
          if (Ready(set, block) == 0) continue;
          lowest = std::min(lowest, graph_.ranks()[block]);
        }
        for (int32_t block = 0; block < graph_.num_blocks(); ++block) {
          const uint64_t ready = Ready(set, block);
          if (ready == 0 || graph_.ranks()[block] > lowest) continue;
          next.insert(set | ready);
        }
      }
      reached = std::move(next);
    }
  }

 private:
  static uint64_t Bit(int32_t node) { return uint64_t{1} << node; }

  const LaunchGraph& graph_;
  std::vector<uint64_t> waits_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_LAUNCH_GRAPHS_H_
