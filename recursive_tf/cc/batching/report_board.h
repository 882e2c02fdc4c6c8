#ifndef RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_
#define RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/run_report.h"

namespace recursive_tf {

// What the last runs of one program reported, and whether somebody watches the
// program, so that runs count what costs time, too.
//
// Thread safety: every method may be called from any thread.
//
// Cost: a lock and a move of a report for each run.
class LastRuns {
 public:
  enum class Pass : uint8_t { kForward, kBackward };

  // Watches and unwatches nest.
  void Watch() { num_watchers_.fetch_add(1, std::memory_order_relaxed); }
  void Unwatch() { num_watchers_.fetch_sub(1, std::memory_order_relaxed); }
  bool is_watched() const {
    return num_watchers_.load(std::memory_order_relaxed) > 0;
  }

  void Post(Pass pass, RunReport report) {
    // The report of before is freed with the argument, after the lock.
    MutexLock lock(&mu_);
    std::optional<RunReport>& last =
        pass == Pass::kForward ? forward_ : backward_;
    if (last.has_value()) {
      std::swap(*last, report);
    } else {
      last.emplace(std::move(report));
    }
  }

  // Returns the last report, if there was a run.
  std::optional<RunReport> Read(Pass pass) {
    MutexLock lock(&mu_);
    return pass == Pass::kForward ? forward_ : backward_;
  }

 private:
  std::atomic<int64_t> num_watchers_{0};
  Mutex mu_;
  std::optional<RunReport> forward_ ABSL_GUARDED_BY(mu_);
  std::optional<RunReport> backward_ ABSL_GUARDED_BY(mu_);
};

// Where the last runs of programs are found by the program's name.
//
// Thread safety: every method may be called from any thread. It has to outlive
// what it returns.
//
// Invariant: what nobody holds, and nobody watches, is not in it.
class ReportBoard {
 public:
  static ReportBoard& Global() {
    static auto* board = new ReportBoard;
    return *board;
  }

  // Returns those of a program: the same for all who hold it at a time.
  std::shared_ptr<LastRuns> Of(const std::string& program) {
    MutexLock lock(&mu_);
    return Hold(program);
  }

  // Holds those of a program until it is unwatched as often.
  void Watch(const std::string& program) {
    MutexLock lock(&mu_);
    std::pair<std::shared_ptr<LastRuns>, int>& entry = watched_[program];
    if (entry.first == nullptr) entry.first = Hold(program);
    entry.first->Watch();
    ++entry.second;
  }

  void Unwatch(const std::string& program) {
    std::shared_ptr<LastRuns> last;  // Whose end takes the lock.
    MutexLock lock(&mu_);
    const auto found = watched_.find(program);
    if (found == watched_.end()) return;
    found->second.first->Unwatch();
    if (--found->second.second > 0) return;
    last = std::move(found->second.first);
    watched_.erase(found);
  }

  // Returns the last report, if somebody holds those of the program, and there
  // was a run since.
  std::optional<RunReport> Read(const std::string& program,
                                LastRuns::Pass pass) {
    std::shared_ptr<LastRuns> runs;
    {
      MutexLock lock(&mu_);
      const auto found = runs_.find(program);
      if (found != runs_.end()) runs = found->second.lock();
    }
    return runs == nullptr ? std::nullopt : runs->Read(pass);
  }

  // How many programs it knows.
  size_t size() {
    MutexLock lock(&mu_);
    return runs_.size();
  }

 private:
  std::shared_ptr<LastRuns> Hold(const std::string& program)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::weak_ptr<LastRuns>& known = runs_[program];
    std::shared_ptr<LastRuns> runs = known.lock();
    if (runs == nullptr) {
      runs.reset(new LastRuns, [this, program](LastRuns* ended) {
        delete ended;
        Forget(program);
      });
      known = runs;
    }
    return runs;
  }

  void Forget(const std::string& program) {
    MutexLock lock(&mu_);
    const auto found = runs_.find(program);
    // Somebody may hold new ones already.
    if (found != runs_.end() && found->second.expired()) runs_.erase(found);
  }

  Mutex mu_;
  std::map<std::string, std::weak_ptr<LastRuns>> runs_ ABSL_GUARDED_BY(mu_);
  // With the number of its watchers.
  std::map<std::string, std::pair<std::shared_ptr<LastRuns>, int>> watched_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_
