#include "recursive_tf/cc/scheduling/helpers.h"

#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace recursive_tf {

Helpers::Helpers(int num_threads, const std::function<void(int)>& begin) {
  threads_.reserve(num_threads);
  for (int i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this, begin, i] {
      begin(i);
      RunUntilEnd();
    });
  }
}

Helpers::~Helpers() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    has_ended_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Helpers::Schedule(Work work) {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    queue_.push_back(std::move(work));
  }
  changed_.notify_one();
}

void Helpers::RunUntilEnd() {
  std::unique_lock<std::mutex> lock(mu_);
  while (true) {
    changed_.wait(lock, [this] { return has_ended_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
}

}  // namespace recursive_tf
