#ifndef TESTS_CC_BLOCKS_THREADS_H_
#define TESTS_CC_BLOCKS_THREADS_H_

#include <functional>
#include <thread>
#include <vector>

#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Runs members on threads of their own, and waits for them in the end.
class Threads {
 public:
  Threads() = default;
  ~Threads() { Join(); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // The schedule must not outlive this.
  Team::Schedule schedule() {
    return [this](const std::function<void()>& run) {
      threads_.emplace_back(run);
    };
  }

  // Waits for those that there are.
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_THREADS_H_
