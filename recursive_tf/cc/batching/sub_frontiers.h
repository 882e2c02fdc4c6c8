#ifndef RECURSIVE_TF_CC_BATCHING_SUB_FRONTIERS_H_
#define RECURSIVE_TF_CC_BATCHING_SUB_FRONTIERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/launch_graph.h"

namespace recursive_tf {

// While a launch graph is worked off: for each block, how many of its nodes are
// left that wait for no other of its nodes, be it through nodes of other blocks
// (|Frontier(G^a)| of Gu et al. 2023, equation 1). If all of these are ready, a
// shortest order begins with that block (lemma 2.1).
//
// A node carries a block if it is of that block and left, or waits for a node
// that carries it. Time is linear in edges times blocks.
class SubFrontiers {
 public:
  // `graph` must outlive this.
  explicit SubFrontiers(const LaunchGraph* graph);

  // Begins with all nodes again.
  void Restart();

  int32_t count(int32_t block) const { return counts_[block]; }

  // Says that a node was launched. REQUIRES: it waited for no node that is
  // left; `followers` are those that waited for it, by node.
  void Launch(int32_t node, const std::vector<std::vector<int32_t>>& followers);

 private:
  size_t At(int32_t node, int32_t block) const {
    return static_cast<size_t>(node) * graph_.num_blocks() + block;
  }

  const LaunchGraph& graph_;
  // By node and block: how many that it waits for carry the block.
  std::vector<int32_t> carriers_;
  std::vector<int32_t> counts_;
  std::vector<int32_t> first_carriers_;
  std::vector<int32_t> first_counts_;
  // Nodes that carry no longer what the launched one did.
  std::vector<int32_t> todo_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SUB_FRONTIERS_H_
