#ifndef RECURSIVE_TF_CC_TF_TEAM_THREADS_H_
#define RECURSIVE_TF_CC_TF_TEAM_THREADS_H_

#include <functional>

#include "recursive_tf/cc/scheduling/teams.h"
#include "tensorflow/core/platform/threadpool_interface.h"

namespace recursive_tf {

// What kernels that a team runs take for the pool of the device: as many
// threads as a team has, and those of the team that the kernel runs on. What
// others schedule, e.g. an op that is no team's, goes to the device's pool.
//
// Thread safety: every method may be called from any thread.
class TeamThreads : public tensorflow::thread::ThreadPoolInterface {
 public:
  using Pool = std::function<void(std::function<void()>)>;

  TeamThreads(int num_threads, Pool others)
      : num_threads_(num_threads), others_(std::move(others)) {}

  void Schedule(std::function<void()> work) override {
    if (!Teams::Help(&work)) others_(std::move(work));
  }
  int NumThreads() const override { return num_threads_; }
  // A leader is of no pool: it waits for its helpers.
  int CurrentThreadId() const override { return -1; }

 private:
  const int num_threads_;
  const Pool others_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_TEAM_THREADS_H_
