#ifndef RECURSIVE_TF_CC_TF_BATCHED_STEP_H_
#define RECURSIVE_TF_CC_TF_BATCHED_STEP_H_

#include <memory>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/make_executor.h"
#include "recursive_tf/cc/tf/team_of.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// The step of TensorFlow that a batched root call belongs to. It must end
// before its root op is done.
class BatchedStep {
 public:
  explicit BatchedStep(tensorflow::OpKernelContext* root)
      : root_(root),
        parent_(root->cancellation_manager()),
        cancellation_(ChildOf(parent_)),
        args_(StepOf(root)),
        team_(root) {
    args_.cancellation_manager = cancellation_.get();
    if (root->runner() != nullptr) args_.runner = *root->runner();
  }
  BatchedStep(const BatchedStep&) = delete;
  BatchedStep& operator=(const BatchedStep&) = delete;

  const tensorflow::Executor::Args& args() const { return args_; }
  tensorflow::OpKernelContext* root() const { return root_; }
  // What block programs run on.
  Team& team() const { return team_.team(); }

  // Between launches, because a long run may have no op that would notice.
  absl::Status CheckCancelled() const {
    if (parent_ == nullptr || !parent_->IsCancelled()) return absl::OkStatus();
    return absl::CancelledError("The root call was cancelled.");
  }

 private:
  tensorflow::OpKernelContext* const root_;
  tensorflow::CancellationManager* const parent_;
  // What a block that fails cancels.
  const std::unique_ptr<tensorflow::CancellationManager> cancellation_;
  tensorflow::Executor::Args args_;
  const TeamOf team_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_STEP_H_
