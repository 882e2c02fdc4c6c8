#ifndef RECURSIVE_TF_CC_TF_SCHEDULED_GRAPH_H_
#define RECURSIVE_TF_CC_TF_SCHEDULED_GRAPH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "recursive_tf/cc/scheduling/levels.h"
#include "recursive_tf/cc/scheduling/op_times.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// A graph that runs on teams, and what is measured of it. Operations have the
// numbers of the graph's nodes.
//
// Thread safety: times and runs may be added from any thread.
struct ScheduledGraph {
  ScheduledGraph(std::string schedule, const tensorflow::Graph& graph);

  std::vector<int64_t> MedianTimes() const;

  // The name of its schedule.
  const std::string schedule;
  // Of each operation; empty where the graph has none of that number.
  std::vector<std::string> names;
  std::vector<std::string> types;
  Dependences dependences;
  std::vector<OpTimes> times;
  std::atomic<int64_t> num_runs{0};
};

// All graphs of this process that run on teams.
//
// Thread safety: every method may be called from any thread.
class ScheduledGraphs {
 public:
  static ScheduledGraphs& Global();

  void Add(const std::shared_ptr<ScheduledGraph>& graph);
  // Returns those that live, in the order in which they came.
  std::vector<std::shared_ptr<ScheduledGraph>> All();

  // While measured, all operations that may run on a team do, so that their
  // times are known.
  void set_measured(bool measured) { is_measured_ = measured; }
  bool is_measured() const {
    return is_measured_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> is_measured_{false};
  std::mutex mu_;
  std::vector<std::weak_ptr<ScheduledGraph>> graphs_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SCHEDULED_GRAPH_H_
