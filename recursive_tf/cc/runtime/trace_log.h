#ifndef RECURSIVE_TF_CC_RUNTIME_TRACE_LOG_H_
#define RECURSIVE_TF_CC_RUNTIME_TRACE_LOG_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Something that took time.
struct TraceEvent {
  std::string name;
  // E.g. "forward".
  std::string category;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  uint64_t thread = 0;
  // How many activations it was for.
  int64_t num_rows = 0;
  // The team that ran it, or -1.
  int team = -1;
};

// What happened in this process while it was recorded.
//
// Thread safety: every method may be called from any thread.
class TraceLog {
 public:
  using Clock = std::chrono::steady_clock;

  static TraceLog& Global() {
    static auto* log = new TraceLog;
    return *log;
  }

  bool is_recording() const {
    return is_recording_.load(std::memory_order_relaxed);
  }

  // Forgets what was recorded before.
  void Start() {
    MutexLock lock(&mu_);
    events_.clear();
    is_recording_ = true;
  }

  std::vector<TraceEvent> Stop() {
    MutexLock lock(&mu_);
    is_recording_ = false;
    return std::exchange(events_, {});
  }

  // Adds an event that ends now.
  void Add(std::string name, std::string category, Clock::time_point start,
           int64_t num_rows, int team = -1) {
    const Clock::time_point end = Clock::now();
    TraceEvent event;
    event.name = std::move(name);
    event.category = std::move(category);
    event.start_ns = Nanoseconds(start.time_since_epoch());
    event.duration_ns = Nanoseconds(end - start);
    event.thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    event.num_rows = num_rows;
    event.team = team;
    MutexLock lock(&mu_);
    if (is_recording_) events_.push_back(std::move(event));
  }

 private:
  static int64_t Nanoseconds(Clock::duration duration) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(duration)
        .count();
  }

  std::atomic<bool> is_recording_{false};
  Mutex mu_;
  std::vector<TraceEvent> events_ ABSL_GUARDED_BY(mu_);
};

// Adds an event for as long as it lives, if that is recorded. `name` must
// outlive it.
class TraceSpan {
 public:
  TraceSpan(const std::string& name, const char* category, int64_t num_rows,
            int team = -1)
      : name_(name), category_(category), num_rows_(num_rows), team_(team) {
    if (is_recorded_) start_ = TraceLog::Clock::now();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  ~TraceSpan() {
    if (is_recorded_) {
      TraceLog::Global().Add(name_, category_, start_, num_rows_, team_);
    }
  }

 private:
  const std::string& name_;
  const char* const category_;
  const int64_t num_rows_;
  const int team_;
  const bool is_recorded_ = TraceLog::Global().is_recording();
  TraceLog::Clock::time_point start_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_TRACE_LOG_H_
