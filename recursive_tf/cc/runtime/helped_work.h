#ifndef RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_
#define RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace recursive_tf {

// Work that one thread, the leader, works off, and others of a pool help with.
// It ends also if none of these ever comes: all may be busy, or wait for this
// very thread.
//
// Thread safety: every method may be called from any thread.
class HelpedWork : public std::enable_shared_from_this<HelpedWork> {
 public:
  using Work = std::function<void()>;
  using Pool = std::function<void(Work)>;

  static std::shared_ptr<HelpedWork> With(Pool pool, int most_helpers) {
    return std::shared_ptr<HelpedWork>(
        new HelpedWork(std::move(pool), most_helpers));
  }
  HelpedWork(const HelpedWork&) = delete;
  HelpedWork& operator=(const HelpedWork&) = delete;

  // Adds a piece. What is added may add more. A helper that was asked for stays
  // until there is nothing to do: to ask for one takes longer than many pieces.
  void Add(Work work) {
    bool is_one_more = false;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      queue_.push_back(std::move(work));
      has_news_.store(true, std::memory_order_release);
      is_one_more = num_helpers_ < most_helpers_;
      if (is_one_more) ++num_helpers_;
    }
    changed_.notify_one();
    if (!is_one_more) return;
    // Who comes late finds nothing, and perhaps everything gone but this.
    pool_([self = shared_from_this()] { self->Help(); });
  }

  // Says that nothing more is added.
  void End() {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      has_ended_ = true;
      has_news_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }

  // Works until the end. Pieces that helpers have begun may still run then.
  void WorkUntilEnd() {
    while (true) {
      Watch();
      std::unique_lock<std::mutex> lock(mu_);
      changed_.wait(lock, [this] { return has_ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Take (&lock)();
    }
  }

 private:
  // For about as long as it takes to wake a thread.
  static constexpr int kYields = 300;

  HelpedWork(Pool pool, int most_helpers)
      : pool_(std::move(pool)), most_helpers_(most_helpers) {}

  // Waits for a moment whether there is something to do. Other threads that
  // want the processor get it.
  void Watch() const {
    for (int i = 0; i < kYields; ++i) {
      if (has_news_.load(std::memory_order_acquire)) return;
      std::this_thread::yield();
    }
  }

  void Help() {
    while (true) {
      std::unique_lock<std::mutex> lock(mu_);
      if (queue_.empty()) {
        --num_helpers_;
        return;
      }
      Take (&lock)();
    }
  }

  // Takes the oldest piece, and lets go of the lock.
  Work Take(std::unique_lock<std::mutex>* lock) {
    Work work = std::move(queue_.front());
    queue_.pop_front();
    has_news_.store(has_ended_ || !queue_.empty(), std::memory_order_release);
    lock->unlock();
    return work;
  }

  const Pool pool_;
  const int most_helpers_;
  // Whether the leader has something to do, or nothing ever again: it looks
  // without the lock, and then once more.
  std::atomic<bool> has_news_{false};
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  // Those that were asked for, and have not found the queue empty since.
  int num_helpers_ = 0;
  bool has_ended_ = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_
