#include "recursive_tf/cc/blocks/hot_team.h"

#include <memory>
#include <utility>

#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

std::unique_ptr<Team> HotTeam::Take(const void* pool, int num_threads) {
  const MutexLock lock(&mu_);
  if (team_ == nullptr || pool_ != pool ||
      team_->num_threads() != num_threads) {
    return nullptr;
  }
  return std::move(team_);
}

void HotTeam::Give(const void* pool, std::unique_ptr<Team> team) {
  team->Rest(/*num_awake=*/team->num_threads() / 2);
  const MutexLock lock(&mu_);
  pool_ = pool;
  // The other one ends when this returns, and the lock is free.
  std::swap(team_, team);
}

}  // namespace recursive_tf
