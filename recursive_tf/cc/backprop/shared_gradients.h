#ifndef RECURSIVE_TF_CC_BACKPROP_SHARED_GRADIENTS_H_
#define RECURSIVE_TF_CC_BACKPROP_SHARED_GRADIENTS_H_

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Adds up what the consumers of shared invocations contribute to the gradients
// of their results, so that the gradient of each runs once.
//
// Thread safety: every method may be called from any thread.
//
// Cost: one lock a contribution, and an addition but for the first.
//
// A Status is as in CaptureGradients.
template <typename Owner, typename Tensor, typename Status>
class SharedGradients {
 public:
  // Adds `value` to `*total`, whose memory it may reuse.
  using Adder = Status (*)(const Tensor& value, Tensor* total);

  explicit SharedGradients(Adder adder) : adder_(adder) {}

  // Returns what went wrong, if contributions cannot be added up.
  // REQUIRES: all for one owner have as many gradients.
  Status Add(const Owner* owner, std::vector<Tensor> gradients) {
    MutexLock lock(&mu_);
    const auto [found, is_first] = sums_.try_emplace(owner);
    if (is_first) {
      found->second = std::move(gradients);
      return Status();
    }
    std::vector<Tensor>& total = found->second;
    for (size_t i = 0; i < total.size(); ++i) {
      Status status = adder_(gradients[i], &total[i]);
      if (!status.ok()) return status;
    }
    return Status();
  }

  // Removes and returns the sums; none if nobody contributed.
  std::optional<std::vector<Tensor>> Take(const Owner* owner) {
    MutexLock lock(&mu_);
    const auto found = sums_.find(owner);
    if (found == sums_.end()) return std::nullopt;
    std::vector<Tensor> sums = std::move(found->second);
    sums_.erase(found);
    return sums;
  }

 private:
  // Constant after construction.
  const Adder adder_;

  Mutex mu_;
  std::unordered_map<const Owner*, std::vector<Tensor>> sums_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BACKPROP_SHARED_GRADIENTS_H_
