#include "recursive_tf/cc/tf/program_run.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/runtime/path.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

using Runner = tf::Executor::Args::Runner;

std::unique_ptr<tf::CancellationManager> ChildOf(
    tf::CancellationManager* parent) {
  return parent == nullptr ? std::make_unique<tf::CancellationManager>()
                           : std::make_unique<tf::CancellationManager>(parent);
}

tf::Executor::Args ArgsOf(tf::OpKernelContext* root) {
  tf::Executor::Args args;
  args.step_id = root->step_id();
  args.rendezvous = root->rendezvous();
  args.stats_collector = root->stats_collector();
  args.step_container = root->step_container();
  args.collective_executor = root->collective_executor();
  return args;
}

// Schedules what an executor has to do next. The start of a call, its end and
// what the caller does then stay on the thread; calls that can run at the same
// time go to the pool.
struct CallRunner {
  const Call* call;
  const Runner* pool;

  void operator()(std::function<void()> work) const {
    if (LocalWork::InScope() || call->has_returned()) {
      work = LocalWork::Leave(std::move(work));
    }
    if (work == nullptr) return;
    (*pool)([work = std::move(work)]() mutable {
      LocalWork::Run(std::move(work));
    });
  }
};

}  // namespace

ProgramRun::ProgramRun(const Procedures* procedures,
                       std::vector<tf::Tensor> captures, bool mapped,
                       tf::OpKernelContext* root)
    : procedures_(procedures),
      captures_(std::move(captures)),
      mapped_(mapped),
      pool_(root->runner()),
      args_(ArgsOf(root)),
      cancellation_(ChildOf(root->cancellation_manager())),
      kernel_cancellation_(ChildOf(cancellation_.get())) {
  args_.cancellation_manager = procedures->only_compute()
                                   ? kernel_cancellation_.get()
                                   : cancellation_.get();
}

void ProgramRun::Start(Call* call) {
  // Checked here, because a chain of calls may have no other op that would
  // notice that its step was cancelled.
  if (!MayRun(call->activation())) {
    call->End(absl::CancelledError("The root call was cancelled."));
    return;
  }
  tf::Executor::Args args = args_;
  args.call_frame = call;
  // An op that waits may do so for what it has scheduled itself, or keep the
  // runner for longer than the call lives.
  if (procedures_->only_compute()) {
    args.runner = CallRunner{call, pool_};
  } else {
    args.runner = *pool_;
  }
  const LocalWork::Scope scope;
  procedures_->executor(call->activation().procedure)
      ->RunAsync(args,
                 [call](const absl::Status& status) { call->End(status); });
}

bool ProgramRun::MayRun(const Activation& activation) const {
  return !cancellation_->IsCancelled() && !failure_.Precedes(activation);
}

absl::Status ProgramRun::Fail(const absl::Status& status,
                              const Activation& activation) {
  // What fails only because something else did is no failure of its own.
  if (!absl::IsCancelled(status)) {
    const std::vector<std::string>& names = *procedures_->names();
    failure_.Record(
        activation,
        tf::errors::CreateWithUpdatedMessage(
            status,
            absl::StrCat("SubGraph '", names[activation.procedure],
                         "' failed at ", FormatPath(activation, mapped_, names),
                         ": ", status.message())));
  }
  if (!procedures_->only_compute()) cancellation_->StartCancel();
  return absl::CancelledError("A call failed.");
}

absl::Status ProgramRun::Stop(const absl::Status& status,
                              const Activation& activation) {
  const absl::Status told = Fail(status, activation);
  cancellation_->StartCancel();
  return told;
}

absl::Status ProgramRun::Outcome(const absl::Status& status) const {
  return failure_.Get().value_or(status);
}

void ProgramRun::Close() {
  kernel_cancellation_.reset();
  cancellation_.reset();
}

}  // namespace recursive_tf
