#ifndef RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_
#define RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_

#include <atomic>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/path_order.h"

namespace recursive_tf {

// Of the activations that fail in one root call, keeps the first in path order
// and its error: the one that a program which makes its calls one after the
// other would stop at, whatever the order in which these happen to fail.
//
// Thread safety: every method may be called from any thread.
//
// Cost: one atomic read as long as nothing has failed; O(depth) afterwards.
template <typename Error>
class FirstFailure {
 public:
  // Keeps the failure of `activation` if no earlier one is kept.
  void Record(const Activation& activation, Error error) {
    PathOrder path = PathOrder::Of(activation);
    MutexLock lock(&mu_);
    if (failure_.has_value() && !(path < failure_->path)) return;
    failure_.emplace(Failure{std::move(path), std::move(error)});
    exists_.store(true, std::memory_order_release);
  }

  // Says whether `activation` comes after the first failure so far, so that
  // nothing that happens in it matters any more.
  bool Precedes(const Activation& activation) const {
    if (!exists_.load(std::memory_order_acquire)) return false;
    const PathOrder path = PathOrder::Of(activation);
    MutexLock lock(&mu_);
    return failure_.has_value() && failure_->path < path;
  }

  std::optional<Error> Get() const {
    MutexLock lock(&mu_);
    if (!failure_.has_value()) return std::nullopt;
    return failure_->error;
  }

 private:
  struct Failure {
    PathOrder path;
    Error error;
  };

  std::atomic<bool> exists_{false};
  mutable Mutex mu_;
  std::optional<Failure> failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_FIRST_FAILURE_H_
