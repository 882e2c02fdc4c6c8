#include "recursive_tf/cc/blocks/hot_teams.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

HotTeams& HotTeams::Global() {
  static HotTeams* const teams = new HotTeams();
  return *teams;
}

std::unique_ptr<Team> HotTeams::Take(const void* pool, int num_threads) {
  const MutexLock lock(&mu_);
  const auto found =
      std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& kept) {
        return kept.pool == pool && kept.team->num_threads() == num_threads;
      });
  if (found == kept_.rend()) return nullptr;
  std::unique_ptr<Team> team = std::move(found->team);
  kept_.erase(std::next(found).base());
  return team;
}

void HotTeams::Give(const void* pool, std::unique_ptr<Team> team) {
  const MutexLock lock(&mu_);
  if (kept_.size() == kMost) kept_.erase(kept_.begin());
  kept_.push_back({pool, std::move(team)});
}

}  // namespace recursive_tf
