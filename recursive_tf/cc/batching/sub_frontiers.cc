#include "recursive_tf/cc/batching/sub_frontiers.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/launch_graph.h"

namespace recursive_tf {

SubFrontiers::SubFrontiers(const LaunchGraph* graph)
    : graph_(*graph),
      first_carriers_(
          static_cast<size_t>(graph->num_nodes()) * graph->num_blocks(), 0),
      first_counts_(graph->num_blocks(), 0) {
  for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
    graph_.ForEachWait(node, [&](int32_t before) {
      for (int32_t block = 0; block < graph_.num_blocks(); ++block) {
        if (graph_.block(before) == block ||
            first_carriers_[At(before, block)] > 0) {
          ++first_carriers_[At(node, block)];
        }
      }
    });
    const int32_t own = graph_.block(node);
    if (first_carriers_[At(node, own)] == 0) ++first_counts_[own];
  }
  Restart();
}

void SubFrontiers::Restart() {
  carriers_ = first_carriers_;
  counts_ = first_counts_;
}

void SubFrontiers::Launch(int32_t node,
                          const std::vector<std::vector<int32_t>>& followers) {
  const int32_t block = graph_.block(node);
  --counts_[block];
  todo_.assign(1, node);
  while (!todo_.empty()) {
    const int32_t at = todo_.back();
    todo_.pop_back();
    for (const int32_t follower : followers[at]) {
      if (--carriers_[At(follower, block)] > 0) continue;
      if (graph_.block(follower) == block) {
        ++counts_[block];
      } else {
        todo_.push_back(follower);
      }
    }
  }
}

}  // namespace recursive_tf
