#include "recursive_tf/cc/tf/call.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

namespace tf = tensorflow;

Call::Call(ProgramRun* run, const Activation* activation, ActivationTree* tree,
           tf::Tensor handle)
    : run_(run),
      activation_(activation),
      tree_(tree),
      procedure_(run->procedures()[activation->procedure]),
      handle_(std::move(handle)) {}

size_t Call::num_args() const {
  return 1 + num_arguments() + procedure_.captures.size();
}

size_t Call::num_retvals() const { return procedure_.num_results; }

absl::Status Call::GetArg(int index, const tf::Tensor** value) {
  const int num_own = 1 + num_arguments();
  if (index == 0) {
    *value = &handle_;
  } else if (index < num_own) {
    *value = &argument(index - 1);
    // What is less is in the estimate of what a call holds.
    constexpr int64_t kManyElements = 64;
    if ((*value)->NumElements() >= kManyElements) Hold(**value);
  } else if (static_cast<size_t>(index) < num_args()) {
    *value = &run_->capture(procedure_.captures[index - num_own]);
  } else {
    return absl::InternalError(
        "A procedure takes more than it is called with.");
  }
  return absl::OkStatus();
}

void Call::Hold(const tf::Tensor& argument) {
  if (tree_ == nullptr || !argument.RefCountIsOne()) return;
  const auto bytes = static_cast<int64_t>(argument.TotalBytes());
  tree_->Hold(bytes);
  bytes_of_arguments_.fetch_add(bytes, std::memory_order_relaxed);
}

absl::Status Call::SetRetval(int index, const tf::Tensor& value) {
  SetResult(index, value);
  return absl::OkStatus();
}

absl::Status Call::Leave(const absl::Status& status) {
  absl::Status told = status;
  if (!status.ok()) told = run_->Fail(status, *activation_);
  run_->Forget(*activation_);
  if (tree_ == nullptr) return told;
  const int64_t bytes = bytes_of_arguments_.load(std::memory_order_relaxed);
  if (bytes != 0) tree_->Hold(-bytes);
  tree_->Leave(activation_, procedure_.bytes_per_call);
  return told;
}

void SiteCall::End(const absl::Status& status) {
  const std::unique_ptr<SiteCall> owned(this);
  const tf::AsyncOpKernel::DoneCallback done = std::move(op_.done);
  op_.ctx->SetStatus(Leave(status));
  const LocalWork::Scope scope;
  done();
}

RowCall::RowCall(ProgramRun* run, const Activation* activation,
                 ActivationTree* tree, tf::Tensor handle, size_t row,
                 std::vector<tf::Tensor> arguments, Done done)
    : Call(run, activation, tree, std::move(handle)),
      row_(row),
      arguments_(std::move(arguments)),
      results_(num_retvals()),
      done_(std::move(done)) {}

void RowCall::End(const absl::Status& status) {
  const std::unique_ptr<RowCall> owned(this);
  const absl::Status told = Leave(status);
  done_(row_, told, std::move(results_));
}

}  // namespace recursive_tf
