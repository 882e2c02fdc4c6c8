#ifndef RECURSIVE_TF_CC_BATCHING_REHEARSAL_H_
#define RECURSIVE_TF_CC_BATCHING_REHEARSAL_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/activation_table.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/sub_frontiers.h"

namespace recursive_tf {

// Works off a launch graph as lock step would, and runs nothing: the same
// frontier, depths and choices, a launch at a time. To be begun again as often
// as one likes.
class Rehearsal {
 public:
  // `graph` must outlive this.
  explicit Rehearsal(const LaunchGraph* graph);
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  const BlockOrder& order() const { return order_; }
  const Frontier& frontier() const { return frontier_; }
  const SubFrontiers& sub_frontiers() const { return sub_frontiers_; }
  bool is_done() const { return frontier_.empty(); }

  // Begins with all nodes again.
  void Restart();

  // Launches a block for the nodes that wait for it. REQUIRES: some do.
  void Launch(const Choice& choice);

  // Restarts, launches what the policy chooses, and returns how often.
  int64_t Run(const Policy& policy);

  // Returns the least number of launches that any policy needs, as LaunchBound
  // does: for each block, the longest chain of its nodes.
  int64_t LeastLaunches() const;

 private:
  void Wait(int32_t node);

  const LaunchGraph& graph_;
  const BlockOrder order_;
  // By node: those that wait for it.
  std::vector<std::vector<int32_t>> followers_;
  // By node: for how many it waits, at first and now.
  std::vector<int32_t> first_waits_;
  std::vector<int32_t> waits_;
  // By node: how far the last of those is that it waited for, and its own.
  std::vector<Progress> before_;
  Frontier frontier_;
  SubFrontiers sub_frontiers_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_REHEARSAL_H_
