#ifndef RECURSIVE_TF_CC_BATCHING_RECORDING_H_
#define RECURSIVE_TF_CC_BATCHING_RECORDING_H_

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/launch_reads.h"

namespace recursive_tf {

// A run: as a launch graph, and what its launches read.
struct RecordedRun {
  std::string subgraph;
  // Of each block, its procedure and its stage.
  std::vector<std::string> block_places;
  LaunchGraph graph;
  // In their order.
  std::vector<RecordedLaunch> launches{};
};

// The runs of all programs of this process, while they are recorded.
//
// Thread safety: every method may be called from any thread.
class Recording {
 public:
  static Recording& Global() {
    static auto* recording = new Recording;
    return *recording;
  }

  bool is_recording() const {
    return is_recording_.load(std::memory_order_relaxed);
  }

  // Forgets what was recorded before.
  void Start() {
    MutexLock lock(&mu_);
    runs_.clear();
    is_recording_ = true;
  }

  // Returns the runs that ended since the start.
  std::vector<RecordedRun> Stop() {
    MutexLock lock(&mu_);
    is_recording_ = false;
    return std::exchange(runs_, {});
  }

  // Adds a run that ended.
  void Add(RecordedRun run) {
    MutexLock lock(&mu_);
    if (is_recording_) runs_.push_back(std::move(run));
  }

 private:
  std::atomic<bool> is_recording_{false};
  Mutex mu_;
  std::vector<RecordedRun> runs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_RECORDING_H_
