#include "recursive_tf/cc/tf/call.h"

#include <cstddef>
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
      handle_(std::move(handle)),
      num_missing_(run->procedures().num_results(activation->procedure)) {}

size_t Call::num_args() const {
  return 1 + num_arguments() +
         run_->procedures().captures(activation_->procedure).size();
}

size_t Call::num_retvals() const {
  return run_->procedures().num_results(activation_->procedure);
}

absl::Status Call::GetArg(int index, const tf::Tensor** value) {
  if (index == 0) {
    *value = &handle_;
  } else if (index <= num_arguments()) {
    *value = &argument(index - 1);
  } else {
    const std::vector<int>& captures =
        run_->procedures().captures(activation_->procedure);
    const size_t capture = index - 1 - num_arguments();
    if (capture >= captures.size()) {
      return absl::InternalError(
          "A procedure takes more than it is called with.");
    }
    *value = &run_->capture(captures[capture]);
  }
  return absl::OkStatus();
}

absl::Status Call::SetRetval(int index, const tf::Tensor& value) {
  SetResult(index, value);
  num_missing_.fetch_sub(1, std::memory_order_relaxed);
  return absl::OkStatus();
}

absl::Status Call::Leave(const absl::Status& status) {
  absl::Status told = status;
  if (!status.ok()) told = run_->Fail(status, *activation_);
  if (tree_ != nullptr) tree_->Leave(activation_);
  return told;
}

void SiteCall::End(const absl::Status& status) {
  const std::unique_ptr<SiteCall> owned(this);
  const tf::AsyncOpKernel::DoneCallback done = std::move(done_);
  ctx_->SetStatus(Leave(status));
  const LocalWork::Scope scope;
  done();
}

RootCall::RootCall(ProgramRun* run, const Activation* activation,
                   ActivationTree* tree, tf::Tensor handle,
                   std::vector<tf::Tensor> arguments, Done done)
    : Call(run, activation, tree, std::move(handle)),
      arguments_(std::move(arguments)),
      results_(num_retvals()),
      done_(std::move(done)) {}

void RootCall::End(const absl::Status& status) {
  const std::unique_ptr<RootCall> owned(this);
  const absl::Status told = Leave(status);
  done_(told, std::move(results_));
}

}  // namespace recursive_tf
