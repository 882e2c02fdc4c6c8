// The call that the front of a memoized SubGraph makes: of the body, unless an
// invocation with the same key has run or runs. And the mirror of it.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/runtime/memo_key.h"
#include "recursive_tf/cc/runtime/shared_invocations.h"
#include "recursive_tf/cc/tf/backward_run.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/cycle_error.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using Shared = SharedInvocations<SharedOutcome>::Shared;
using Verdict = SharedInvocations<SharedOutcome>::Verdict;

class SharedCallOp : public tf::AsyncOpKernel {
 public:
  explicit SharedCallOp(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("callee", &callee_));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    const ActivationHandle* front = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, GetCaller(ctx, &front), done);
    ForwardRun* const run = front->run;
    MemoKey key{callee_, 0};
    OP_REQUIRES_OK_ASYNC(ctx, ReadKey(ctx->input(1), *front, &key.number),
                         done);
    Shared* shared = nullptr;
    const auto waiter = [ctx, run, done](const SharedOutcome& outcome) {
      SetOutputs(ctx, run, outcome);
      const LocalWork::Scope scope;
      done();
    };
    std::vector<int64_t> cycle;
    switch (run->shared.Ask(key, front->within, waiter, &shared, &cycle)) {
      case Verdict::kIsNew:
        Run(ctx, *front, shared);
        return;
      case Verdict::kWillEnd:
        return;
      case Verdict::kHasEnded:
        SetOutputs(ctx, run, shared->outcome());
        break;
      case Verdict::kIsCycle:
        ctx->SetStatus(
            run->program.Fail(CycleError(cycle), *front->activation));
        break;
    }
    done();
  }

 private:
  static absl::Status ReadKey(const tf::Tensor& tensor,
                              const ActivationHandle& front, int64_t* key) {
    if (tensor.dims() != 0) {
      return front.run->program.Fail(
          absl::InvalidArgumentError(
              absl::StrCat("memo= must give a scalar; got the shape ",
                           tensor.shape().DebugString(), ".")),
          *front.activation);
    }
    *key = tensor.dtype() == tf::DT_INT32 ? tensor.scalar<int32_t>()()
                                          : tensor.scalar<int64_t>()();
    return absl::OkStatus();
  }

  // Runs the body, a part of the invocation whose front this is.
  void Run(tf::OpKernelContext* ctx, const ActivationHandle& front,
           Shared* shared) const {
    ForwardRun* const run = front.run;
    Activation* activation = nullptr;
    // No limit counts it, so it is entered.
    const Invocation invocation{front.activation, callee_, kSharedSite,
                                /*ordinal=*/0};
    const absl::Status entered = run->Enter(invocation, &activation);
    if (!entered.ok()) {
      run->shared.End(shared, {entered, {}, nullptr});
      return;
    }
    std::vector<tf::Tensor> arguments;
    for (int i = 2; i < ctx->num_inputs(); ++i) {
      arguments.push_back(ctx->input(i));
    }
    ActivationHandle handle;
    handle.run = run;
    handle.activation = activation;
    handle.within = shared;
    run->program.Start(new RowCall(
        &run->program, activation, &run->record->activations,
        HandleTensor(handle), /*row=*/0, std::move(arguments),
        [run, shared, activation](size_t /*row*/, const absl::Status& status,
                                  std::vector<tf::Tensor> results) {
          run->shared.End(shared, {status, std::move(results), activation});
        }));
  }

  static void SetOutputs(tf::OpKernelContext* ctx, ForwardRun* run,
                         const SharedOutcome& outcome) {
    if (!outcome.status.ok()) {
      ctx->SetStatus(outcome.status);
      return;
    }
    const int last = ctx->num_outputs() - 1;
    for (int i = 0; i < last; ++i) ctx->set_output(i, outcome.results[i]);
    // The last names the activation to the gradient.
    ActivationHandle handle;
    handle.run = run;
    if (run->record->activations.keeps()) {
      handle.activation = outcome.activation;
    }
    ctx->set_output(last, HandleTensor(handle));
  }

  int32_t callee_ = 0;
};

// The mirror: contributes to the gradients of the shared invocation's results.
// When all have, the root op runs its gradient.
class SharedCallGradientOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const GradientHandle* front = nullptr;
    const ActivationHandle* body = nullptr;
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &front));
    OP_REQUIRES_OK(ctx, GetHandle(ctx, 1, &body));
    OP_REQUIRES(ctx, body->activation != nullptr,
                absl::FailedPreconditionError(
                    "The forward call kept no values for its gradient."));
    std::vector<tf::Tensor> gradients;
    OP_REQUIRES_OK(ctx, InputList(ctx, "output_gradients", &gradients));
    OP_REQUIRES_OK(ctx,
                   front->run->CheckCall(*body->activation,
                                         static_cast<int>(gradients.size()),
                                         BackwardRun::kNoResults));
    const absl::Status status =
        front->run->shared.Add(body->activation, std::move(gradients));
    if (!status.ok()) {
      ctx->SetStatus(front->run->program.Fail(status, *front->activation));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveSharedCall").Device(tf::DEVICE_CPU),
                        SharedCallOp);
REGISTER_KERNEL_BUILDER(
    Name("StatelessRecursiveSharedCall").Device(tf::DEVICE_CPU), SharedCallOp);
REGISTER_KERNEL_BUILDER(
    Name("RecursiveSharedCallGradient").Device(tf::DEVICE_CPU),
    SharedCallGradientOp);

}  // namespace
}  // namespace recursive_tf
