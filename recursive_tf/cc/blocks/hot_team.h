#ifndef RECURSIVE_TF_CC_BLOCKS_HOT_TEAM_H_
#define RECURSIVE_TF_CC_BLOCKS_HOT_TEAM_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// The team that was last led, between two ops. Its members are awake for a
// while after its last job. So the next op, e.g. the gradient of the one before
// it, finds threads that spin, and need not wake up others: that takes as long
// as a small launch.
//
// There is one: half of a pool's threads at most are awake for nothing, and the
// others are there for other ops.
//
// Thread safety: thread-safe.
class HotTeam {
 public:
  // Of this process. It is never destroyed, as threads may outlive `main`.
  static HotTeam& Global() {
    static HotTeam* const team = new HotTeam();
    return *team;
  }

  // Returns the team if it is of a pool's threads, and has as many of them;
  // null otherwise.
  std::unique_ptr<Team> Take(const void* pool, int num_threads);

  // Keeps a team that nobody leads any more for the next op. The members of the
  // one that was kept go. Another pool may stand where the team's was, which is
  // gone: a team asks its pool for threads only while it is led.
  void Give(const void* pool, std::unique_ptr<Team> team);

 private:
  Mutex mu_;
  const void* pool_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::unique_ptr<Team> team_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_HOT_TEAM_H_
