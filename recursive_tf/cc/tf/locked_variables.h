#ifndef RECURSIVE_TF_CC_TF_LOCKED_VARIABLES_H_
#define RECURSIVE_TF_CC_TF_LOCKED_VARIABLES_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace recursive_tf {

// Variables that a kernel reads or changes, locked until this is gone. Lock is
// tf_shared_lock, to read, or mutex_lock.
//
// Each is locked once, in the order of their addresses, as all of TensorFlow's
// kernels lock theirs: nobody waits for who waits for them.
template <typename Lock>
class LockedVariables {
 public:
  // REQUIRES: not locked yet.
  absl::Status Add(tensorflow::OpKernelContext* ctx,
                   const tensorflow::ResourceHandle& handle) {
    names_.push_back(handle.name());
    return tensorflow::LookupResource(ctx, handle, &variables_.emplace_back());
  }

  void LockAll() {
    std::vector<Mutex> mutexes;
    mutexes.reserve(variables_.size());
    for (const auto& variable : variables_) mutexes.push_back(variable->mu());
    std::sort(mutexes.begin(), mutexes.end());
    mutexes.erase(std::unique(mutexes.begin(), mutexes.end()), mutexes.end());
    for (const Mutex mutex : mutexes) {
      locks_.push_back(std::make_unique<Lock>(*mutex));
    }
  }

  // In the order in which they were added.
  tensorflow::Var& operator[](size_t index) const { return *variables_[index]; }
  const std::string& name(size_t index) const { return names_[index]; }

 private:
  using Mutex = decltype(std::declval<tensorflow::Var>().mu());

  std::vector<tensorflow::core::RefCountPtr<tensorflow::Var>> variables_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Lock>> locks_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LOCKED_VARIABLES_H_
