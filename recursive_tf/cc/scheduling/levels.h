#ifndef RECURSIVE_TF_CC_SCHEDULING_LEVELS_H_
#define RECURSIVE_TF_CC_SCHEDULING_LEVELS_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace recursive_tf {

// The operations of a graph, by number, and which of them wait for which.
struct Dependences {
  int num_nodes = 0;
  // Of each: what comes first, and what waits for it. Without cycles.
  std::vector<std::pair<int, int>> edges;
};

// What a graph and the time of each of its operations say about the order.
struct Levels {
  // Of each operation: the time of the longest path from its start to the end
  // of the graph (Tang et al. 2018, section 4.3).
  std::vector<int64_t> values;
  // Whether it is on the longest path of all.
  std::vector<bool> is_critical;
};

// `times` has one for each node. What a cycle leaves unordered has its own time
// as its level.
Levels LevelsOf(const Dependences& graph, const std::vector<int64_t>& times);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_SCHEDULING_LEVELS_H_
