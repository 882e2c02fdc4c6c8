#ifndef RECURSIVE_TF_CC_TF_CALL_STATUSES_H_
#define RECURSIVE_TF_CC_TF_CALL_STATUSES_H_

#include <atomic>
#include <cstddef>
#include <vector>

#include "absl/status/status.h"

namespace recursive_tf {

// How each of several calls ended, and which of them ends last.
//
// Thread safety: End may be called from any thread, once a call; First after
// the last End.
class CallStatuses {
 public:
  explicit CallStatuses(size_t num_calls)
      : statuses_(num_calls), num_pending_(num_calls) {}

  // Returns true for the call that ends last.
  [[nodiscard]] bool End(size_t call, const absl::Status& status) {
    statuses_[call] = status;
    return num_pending_.fetch_sub(1) == 1;
  }

  // Returns the error of the first call that has one, in their order.
  absl::Status First() const {
    for (const absl::Status& status : statuses_) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<absl::Status> statuses_;
  std::atomic<size_t> num_pending_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_CALL_STATUSES_H_
