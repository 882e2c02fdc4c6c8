#ifndef RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_
#define RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace recursive_tf {

// Work that one thread works off, and others of a pool help with. It ends also
// if none of these ever comes: all may be busy, or wait for this very thread.
//
// Thread safety: every method may be called from any thread.
class HelpedWork : public std::enable_shared_from_this<HelpedWork> {
 public:
  using Work = std::function<void()>;
  using Pool = std::function<void(Work)>;

  static std::shared_ptr<HelpedWork> With(Pool pool) {
    return std::shared_ptr<HelpedWork>(new HelpedWork(std::move(pool)));
  }
  HelpedWork(const HelpedWork&) = delete;
  HelpedWork& operator=(const HelpedWork&) = delete;

  // Adds a piece, and asks for help. What is added may add more.
  void Add(Work work) {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
    // Who comes late finds nothing, and perhaps everything gone but this.
    pool_([self = shared_from_this()] { self->RunOne(); });
  }

  // Says that nothing more is added.
  void End() {
    {
      const std::lock_guard<std::mutex> lock(mu_);
      has_ended_ = true;
    }
    changed_.notify_all();
  }

  // Works until the end. Pieces that helpers have begun may still run then.
  void WorkUntilEnd() {
    while (true) {
      std::unique_lock<std::mutex> lock(mu_);
      changed_.wait(lock, [this] { return has_ended_ || !queue_.empty(); });
      if (queue_.empty()) return;
      Take (&lock)();
    }
  }

 private:
  explicit HelpedWork(Pool pool) : pool_(std::move(pool)) {}

  void RunOne() {
    std::unique_lock<std::mutex> lock(mu_);
    if (queue_.empty()) return;
    Take (&lock)();
  }

  // Takes the oldest piece, and lets go of the lock.
  Work Take(std::unique_lock<std::mutex>* lock) {
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock->unlock();
    return work;
  }

  const Pool pool_;
  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  bool has_ended_ = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_HELPED_WORK_H_
