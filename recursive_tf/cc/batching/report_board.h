#ifndef RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_
#define RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/run_report.h"

namespace recursive_tf {

// Where runs leave reports for whoever watches their program: the last one of
// each. Nothing is kept of programs that nobody watches.
//
// Thread safety: every method may be called from any thread.
class ReportBoard {
 public:
  enum class Pass : uint8_t { kForward, kBackward };

  static ReportBoard& Global() {
    static auto* board = new ReportBoard;
    return *board;
  }

  // Watches and unwatches nest.
  void Watch(const std::string& program) {
    MutexLock lock(&mu_);
    ++watched_[program].num_watchers;
    is_used_.store(true, std::memory_order_relaxed);
  }

  void Unwatch(const std::string& program) {
    MutexLock lock(&mu_);
    const auto found = watched_.find(program);
    if (found != watched_.end() && --found->second.num_watchers == 0) {
      watched_.erase(found);
    }
    is_used_.store(!watched_.empty(), std::memory_order_relaxed);
  }

  bool IsWatched(const std::string& program) {
    if (!is_used_.load(std::memory_order_relaxed)) return false;
    MutexLock lock(&mu_);
    return watched_.count(program) > 0;
  }

  void Post(const std::string& program, Pass pass, RunReport report) {
    if (!is_used_.load(std::memory_order_relaxed)) return;
    MutexLock lock(&mu_);
    const auto found = watched_.find(program);
    if (found == watched_.end()) return;
    Watched& watched = found->second;
    (pass == Pass::kForward ? watched.forward : watched.backward) =
        std::move(report);
  }

  // Returns the last report, if there was a run since the program is watched.
  std::optional<RunReport> Read(const std::string& program, Pass pass) {
    MutexLock lock(&mu_);
    const auto found = watched_.find(program);
    if (found == watched_.end()) return std::nullopt;
    return pass == Pass::kForward ? found->second.forward
                                  : found->second.backward;
  }

 private:
  struct Watched {
    int num_watchers = 0;
    std::optional<RunReport> forward;
    std::optional<RunReport> backward;
  };

  std::atomic<bool> is_used_{false};
  Mutex mu_;
  std::map<std::string, Watched> watched_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_REPORT_BOARD_H_
