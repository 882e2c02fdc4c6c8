#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_GRAPH_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace recursive_tf {

// What a run computed, without the order in which it did: the dataflow graph of
// Gu et al. 2023 ("ED-Batch", section 2), with blocks for types. A node is what
// one activation gets of one launch. It waits for all that its activation had
// to wait for, and only for nodes before it.
class LaunchGraph {
 public:
  // Takes the rank of each block, as of BlockOrder.
  explicit LaunchGraph(std::vector<int32_t> ranks) : ranks_(std::move(ranks)) {}

  // Adds a node, and returns its number: of an activation with so many calls
  // around it. REQUIRES: what it waits for is there.
  int32_t Add(int32_t block, const std::vector<int32_t>& waits_for,
              int32_t call_depth = 1) {
    blocks_.push_back(block);
    call_depths_.push_back(call_depth);
    waits_for_.insert(waits_for_.end(), waits_for.begin(), waits_for.end());
    ends_.push_back(waits_for_.size());
    return num_nodes() - 1;
  }

  int32_t num_blocks() const { return static_cast<int32_t>(ranks_.size()); }
  int32_t num_nodes() const { return static_cast<int32_t>(blocks_.size()); }
  const std::vector<int32_t>& ranks() const { return ranks_; }

  int32_t block(int32_t node) const { return blocks_[node]; }
  int32_t call_depth(int32_t node) const { return call_depths_[node]; }

  // Calls `see` with each node that `node` waits for.
  template <typename See>
  void ForEachWait(int32_t node, const See& see) const {
    for (size_t i = node == 0 ? 0 : ends_[node - 1]; i < ends_[node]; ++i) {
      see(waits_for_[i]);
    }
  }

 private:
  std::vector<int32_t> ranks_;
  // By node.
  std::vector<int32_t> blocks_;
  std::vector<int32_t> call_depths_;
  // Where in `waits_for_` those of a node end; the next node's follow.
  std::vector<size_t> ends_;
  std::vector<int32_t> waits_for_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_GRAPH_H_
