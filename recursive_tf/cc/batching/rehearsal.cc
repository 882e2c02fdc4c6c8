#include "recursive_tf/cc/batching/rehearsal.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

Rehearsal::Rehearsal(const LaunchGraph* graph)
    : graph_(*graph),
      order_(graph->ranks()),
      followers_(graph->num_nodes()),
      first_waits_(graph->num_nodes(), 0),
      frontier_(graph->num_blocks()),
      sub_frontiers_(graph) {
  for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
    graph_.ForEachWait(node, [&](int32_t before) {
      followers_[before].push_back(node);
      ++first_waits_[node];
    });
  }
  Restart();
}

void Rehearsal::Restart() {
  waits_ = first_waits_;
  before_.assign(graph_.num_nodes(), Progress());
  frontier_ = Frontier(graph_.num_blocks());
  sub_frontiers_.Restart();
  for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
    if (waits_[node] == 0) Wait(node);
  }
}

void Rehearsal::Launch(const Choice& choice) {
  for (const int32_t node : frontier_.Take(choice.block, choice.depth)) {
    const Progress after = order_.After(before_[node], choice.block);
    sub_frontiers_.Launch(node, followers_);
    for (const int32_t follower : followers_[node]) {
      before_[follower] = std::max(before_[follower], after);
      if (--waits_[follower] == 0) Wait(follower);
    }
  }
}

int64_t Rehearsal::Run(const Policy& policy) {
  Restart();
  int64_t launches = 0;
  for (; !is_done(); ++launches) Launch(policy.Choose(frontier_));
  return launches;
}

int64_t Rehearsal::LeastLaunches() const {
  const size_t num_blocks = graph_.num_blocks();
  std::vector<int32_t> chains(graph_.num_nodes() * num_blocks, 0);
  std::vector<int32_t> longest(num_blocks, 0);
  for (int32_t node = 0; node < graph_.num_nodes(); ++node) {
    int32_t* const own = &chains[node * num_blocks];
    graph_.ForEachWait(node, [&](int32_t before) {
      for (size_t block = 0; block < num_blocks; ++block) {
        own[block] = std::max(own[block], chains[before * num_blocks + block]);
      }
    });
    int32_t& length = own[graph_.block(node)];
    longest[graph_.block(node)] =
        std::max(longest[graph_.block(node)], ++length);
  }
  return std::accumulate(longest.begin(), longest.end(), int64_t{0});
}

void Rehearsal::Wait(int32_t node) {
  const int32_t block = graph_.block(node);
  frontier_.Add(block, {node, order_.After(before_[node], block).depth,
                        graph_.call_depth(node)});
}

}  // namespace recursive_tf
