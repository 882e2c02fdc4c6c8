#ifndef RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_
#define RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/failure_order.h"
#include "recursive_tf/cc/runtime/path.h"

namespace recursive_tf {

// What failed first, and where.
template <typename Error>
struct Failure {
  // From the invocation that the root call made.
  std::vector<PathStep> path;
  // What ran: a part of the innermost step, or all of it.
  int32_t procedure = 0;
  Error error;
};

// Of the activations that fail in one root call, keeps the first in path order
// and its error: the one that a program which makes its calls one after the
// other would stop at, whatever the order in which these happen to fail.
//
// Thread safety: every method may be called from any thread.
//
// Cost: one atomic read as long as nothing has failed; afterwards one lock, and
// O(1) amortized over the activations of the root call. Memory: O(1) for each
// level of the first failure, and for each activation that is alive.
template <typename Error>
class FirstFailure {
 public:
  // Keeps the failure of `activation` if no earlier one is kept.
  void Record(const Activation& activation, Error error) {
    MutexLock lock(&mu_);
    if (error_.has_value() && !order_.IsEarlier(activation)) return;
    order_.MoveTo(activation);
    procedure_ = activation.procedure;
    error_.emplace(std::move(error));
    exists_.store(true, std::memory_order_release);
  }

  // Returns true only if `activation`, which is to begin, comes after the first
  // failure so far, so that nothing that happens in it matters. It may return
  // false for one that does, where to find out would cost too much by now; its
  // calls are asked about again.
  bool Precedes(const Activation& activation) {
    if (!exists_.load(std::memory_order_acquire)) return false;
    MutexLock lock(&mu_);
    return order_.IsKnownToBeLater(activation);
  }

  // Says that `activation` and all that it called have ended.
  void Forget(const Activation& activation) {
    if (!exists_.load(std::memory_order_acquire)) return;
    MutexLock lock(&mu_);
    order_.Forget(activation);
  }

  std::optional<Failure<Error>> Get() const {
    MutexLock lock(&mu_);
    if (!error_.has_value()) return std::nullopt;
    return Failure<Error>{order_.path(), procedure_, *error_};
  }

 private:
  std::atomic<bool> exists_{false};
  mutable Mutex mu_;
  FailureOrder order_ ABSL_GUARDED_BY(mu_);
  int32_t procedure_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<Error> error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_
