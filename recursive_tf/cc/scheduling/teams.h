#ifndef RECURSIVE_TF_CC_SCHEDULING_TEAMS_H_
#define RECURSIVE_TF_CC_SCHEDULING_TEAMS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "recursive_tf/cc/scheduling/helpers.h"

namespace recursive_tf {

// Teams of threads, each of which runs one operation at a time, and the
// scheduler that hands ready operations out: to idle teams, those with the
// longest way to the end first (Tang et al. 2018, sections 4.3 and 4.4).
//
// A team has a leader, which runs the operation, and helpers for what the
// operation splits itself into: as many as the team has threads, because there
// are operations whose own thread only waits for the others, e.g. oneDNN's. A
// team has cores of its own and a buffer for one operation, and looks nowhere
// else for work. In the paper the scheduler has a core of its own, where it
// looks for news all the time; here it is a lock that is taken by whoever has
// news, because two cores are too few to give one away.
//
// Operations that become ready while a leader ends one come as Submits of the
// leader. Of these it keeps the one with the longest way for itself, unless
// something that waits has a longer one: a chain stays on a team, and in its
// caches.
//
// Thread safety: every method may be called from any thread.
class Teams {
 public:
  using Work = std::function<void()>;

  // `num_threads` is how many threads of each team compute at once. Where
  // `pinned`, team i has the cores i * num_threads and on, of those that the
  // process may use.
  Teams(int num_teams, int num_threads, bool pinned);
  // Runs what is left first.
  ~Teams();
  Teams(const Teams&) = delete;
  Teams& operator=(const Teams&) = delete;

  int num_teams() const { return static_cast<int>(teams_.size()); }
  int num_threads() const { return num_threads_; }

  // Has a team run `work` when it is the next one: by `level`, and by who came
  // first.
  void Submit(int64_t level, Work work);

  // Of the calling thread, a leader or a helper: its team's number, or -1.
  static int TeamOfThread();

  // Has a helper of the calling thread's team run `work`. Returns false, and
  // leaves `work` as it is, if the thread is of no team with helpers.
  static bool Help(Work* work);

 private:
  struct Ready {
    int64_t level;
    int64_t number;
    Work work;

    // Whether it comes after `other`.
    bool operator<(const Ready& other) const {
      return level != other.level ? level < other.level : number > other.number;
    }
  };

  struct Team {
    Teams* teams = nullptr;
    int number = 0;
    std::unique_ptr<Helpers> helpers;
    std::thread leader;
    // What comes next: handed over by the scheduler.
    std::optional<Ready> buffer;
    std::condition_variable changed;
    // What the leader has kept of what it made ready.
    std::optional<Ready> kept;
  };

  void Lead(Team* team);
  std::optional<Ready> Next(Team* team);
  void Keep(Team* team, Ready ready);
  void Push(Ready ready);
  Ready Pop();
  // Hands out ready operations while there are idle teams. Returns these teams,
  // which are to be woken when the lock is let go.
  std::vector<Team*> HandOut();
  int TakeIdle();
  void SetIdle(int team);
  void ClearIdle(int team);
  static void Wake(const std::vector<Team*>& teams);

  static Team*& OfThread();

  const int num_threads_;
  std::mutex mu_;
  std::vector<Ready> heap_;
  // A bit for each team.
  std::vector<uint64_t> idle_;
  int64_t num_submitted_ = 0;
  bool has_ended_ = false;
  std::vector<std::unique_ptr<Team>> teams_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_SCHEDULING_TEAMS_H_
