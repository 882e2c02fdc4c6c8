#ifndef RECURSIVE_TF_CC_SCHEDULING_OP_TIMES_H_
#define RECURSIVE_TF_CC_SCHEDULING_OP_TIMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace recursive_tf {

// How long the last runs of an operation took.
//
// Thread safety: every method may be called from any thread.
class OpTimes {
 public:
  void Add(int64_t nanoseconds) {
    const std::lock_guard<std::mutex> lock(mu_);
    last_[num_ % kKept] = nanoseconds;
    ++num_;
  }

  // Returns the median, which an outlier does not move; 0 if it never ran.
  int64_t Median() const {
    const std::lock_guard<std::mutex> lock(mu_);
    std::vector<int64_t> times(last_.begin(),
                               last_.begin() + std::min(num_, kKept));
    if (times.empty()) return 0;
    const auto middle = times.begin() + times.size() / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

 private:
  static constexpr size_t kKept = 16;

  mutable std::mutex mu_;
  std::array<int64_t, kKept> last_{};
  size_t num_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_SCHEDULING_OP_TIMES_H_
