#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_RECORDER_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_RECORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/launch_graph.h"

namespace recursive_tf {

// Nodes of a launch graph, in order, each once.
using LaunchNodes = std::vector<int32_t>;

// Records a run in lock step as a launch graph. Of each activation it knows the
// nodes that what it does next waits for: what its last launch was, or what its
// calls did since.
class LaunchRecorder {
 public:
  // Takes the rank of each block.
  explicit LaunchRecorder(std::vector<int32_t> ranks)
      : graph_(std::move(ranks)) {}

  const LaunchGraph& graph() const { return graph_; }
  LaunchGraph TakeGraph() { return std::move(graph_); }

  // Says that an activation begins, called by `parent`, or by nobody.
  void Begin(int32_t id, int32_t parent) {
    if (static_cast<size_t>(id) >= last_.size()) last_.resize(id + 1);
    last_[id] = parent == kNoActivation ? LaunchNodes() : last_[parent];
  }

  // Returns what something waits for that waits for an activation.
  const LaunchNodes& last(int32_t id) const { return last_[id]; }

  // Says that what an activation does next waits for `nodes`, too.
  void Join(int32_t id, const LaunchNodes& nodes) {
    LaunchNodes all;
    all.reserve(last_[id].size() + nodes.size());
    std::set_union(last_[id].begin(), last_[id].end(), nodes.begin(),
                   nodes.end(), std::back_inserter(all));
    last_[id] = std::move(all);
  }

  // Says that a block was launched for an activation, with so many calls around
  // it.
  void Launch(int32_t id, int32_t block, int32_t call_depth) {
    last_[id] = {graph_.Add(block, last_[id], call_depth)};
  }

 private:
  LaunchGraph graph_;
  // By activation.
  std::vector<LaunchNodes> last_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_RECORDER_H_
