#ifndef RECURSIVE_TF_CC_SCHEDULING_HELPERS_H_
#define RECURSIVE_TF_CC_SCHEDULING_HELPERS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace recursive_tf {

// The threads of a team beside its leader. They run what the leader's operation
// splits itself into, in the order in which it comes.
//
// Thread safety: every method may be called from any thread.
class Helpers {
 public:
  using Work = std::function<void()>;

  // `begin(i)` runs first on thread i.
  Helpers(int num_threads, const std::function<void(int)>& begin);
  // Runs what is left first.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  void Schedule(Work work);
  int num_threads() const { return static_cast<int>(threads_.size()); }

 private:
  void RunUntilEnd();

  std::mutex mu_;
  std::condition_variable changed_;
  std::deque<Work> queue_;
  bool has_ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_SCHEDULING_HELPERS_H_
