#ifndef RECURSIVE_TF_CC_BLOCKS_HOT_TEAMS_H_
#define RECURSIVE_TF_CC_BLOCKS_HOT_TEAMS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Teams between two ops. The members of a team are awake for a while after its
// last job. So the next op, e.g. the gradient of the one before it, finds
// threads that spin, and need not wake up others: that takes as long as a small
// launch.
//
// Thread safety: thread-safe.
class HotTeams {
 public:
  // Of this process. It is never destroyed, as threads may outlive `main`.
  static HotTeams& Global();

  // Returns a team of a pool's threads, with as many of them, that nobody
  // leads; null if there is none.
  std::unique_ptr<Team> Take(const void* pool, int num_threads);

  // Keeps a team for the next op, and no more than a few: the members of others
  // go. Another pool may stand where a pool was that is gone, since a team asks
  // its pool for threads only while it is led.
  void Give(const void* pool, std::unique_ptr<Team> team);

 private:
  // Ops that run one after the other need one. Those that run at once mostly
  // find no core for the members of more.
  static constexpr size_t kMost = 2;

  struct Kept {
    const void* pool = nullptr;
    std::unique_ptr<Team> team;
  };

  Mutex mu_;
  // The last one led is behind.
  std::vector<Kept> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_HOT_TEAMS_H_
