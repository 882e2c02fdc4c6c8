#ifndef RECURSIVE_TF_CC_RUNTIME_FIRST_ERROR_H_
#define RECURSIVE_TF_CC_RUNTIME_FIRST_ERROR_H_

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Keeps the first error of many activations that fail at about the same time.
//
// Thread safety: every method may be called from any thread.
template <typename Error>
class FirstError {
 public:
  // Returns true if `error` is the first.
  bool Record(Error error) {
    MutexLock lock(&mu_);
    if (error_.has_value()) return false;
    error_ = std::move(error);
    return true;
  }

  std::optional<Error> Get() const {
    MutexLock lock(&mu_);
    return error_;
  }

 private:
  mutable Mutex mu_;
  std::optional<Error> error_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_FIRST_ERROR_H_
