#ifndef RECURSIVE_TF_CC_TESTING_THREADS_H_
#define RECURSIVE_TF_CC_TESTING_THREADS_H_

#include <atomic>
#include <thread>
#include <vector>

namespace recursive_tf {

// Runs `body(0)` to `body(num_threads - 1)`, each in its own thread, and
// returns when all have. None starts before all are awake: they spin instead of
// sleeping because the first to be woken would be done before the last one is.
template <typename Body>
void RunInThreads(int num_threads, const Body& body) {
  std::atomic<int> num_awake = 0;
  std::vector<std::thread> threads;
  threads.reserve(num_threads);
  for (int t = 0; t < num_threads; ++t) {
    threads.emplace_back([&, t] {
      ++num_awake;
      while (num_awake < num_threads) std::this_thread::yield();
      body(t);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_THREADS_H_
