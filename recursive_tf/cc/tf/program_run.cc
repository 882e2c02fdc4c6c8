#include "recursive_tf/cc/tf/program_run.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/first_failure.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/runtime/path.h"
#include "recursive_tf/cc/runtime/tail_predictor.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/make_executor.h"
#include "recursive_tf/cc/tf/planted_fault.h"
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

// Schedules what an executor has to do next. The start of a call, its end and
// what its caller does then stay on the thread. What can run at the same time
// as the rest of the piece goes to the pool, unless that rest is short.
struct CallRunner {
  const Procedure* procedure;
  const Runner* pool;

  void operator()(std::function<void()> work) const {
    const bool ends = EndsThePiece(work);
    const TailPredictor tail = procedure->tail;
    const bool hold = ends || (procedure->may_hold && tail.IsShort());
    Share(hold ? LocalWork::Leave(std::move(work)) : std::move(work));
    // Another thread may have ended the run and this runner by now.
    if (!ends) LocalWork::MeasureTail(tail);
  }

  bool EndsThePiece(const std::function<void()>& work) const {
    return LocalWork::InScope() ||
           &work.target_type() ==
               procedure->last_closure.load(std::memory_order_relaxed);
  }

  void Share(std::function<void()> work) const {
    if (work == nullptr) return;
    (*pool)([work = std::move(work)]() mutable {
      LocalWork::Run(std::move(work));
    });
  }
};

// The same for programs with ops that wait: such an op may wait for what it has
// scheduled itself, and may keep the runner for longer than its step lives.
Runner PatientRunner(Runner pool) {
  return [pool = std::move(pool)](std::function<void()> work) {
    pool([work = std::move(work)]() mutable {
      constexpr int kNesting = 64;
      LocalWork::Run(std::move(work), kNesting);
    });
  };
}

}  // namespace

ProgramRun::ProgramRun(const Procedures* procedures,
                       std::vector<tf::Tensor> captures, bool mapped,
                       tf::OpKernelContext* root)
    : procedures_(procedures),
      captures_(std::move(captures)),
      mapped_(mapped),
      pool_(root->runner()),
      args_(StepOf(root)),
      cancellation_(ChildOf(root->cancellation_manager())),
      kernel_cancellation_(ChildOf(cancellation_.get())) {
  if (procedures->only_compute()) {
    args_.cancellation_manager = kernel_cancellation_.get();
  } else {
    args_.cancellation_manager = cancellation_.get();
    args_.runner = PatientRunner(*pool_);
  }
}

void ProgramRun::Start(Call* call) {
  // Checked here, because a chain of calls may have no other op that would
  // notice that its step was cancelled.
  if (!MayRun(call->activation())) {
    call->End(absl::CancelledError("The root call was cancelled."));
    return;
  }
  if (const absl::Status fault =
          PlantedFault(call->is_gradient() ? Faults::Kind::kGradient
                                           : Faults::Kind::kLaunch);
      !fault.ok()) {
    call->End(fault);
    return;
  }
  const Procedure& procedure = call->procedure();
  tf::Executor::Args args = args_;
  args.call_frame = call;
  if (procedures_->only_compute()) args.runner = CallRunner{&procedure, pool_};
  const LocalWork::Scope scope;
  procedure.executor->RunAsync(args, [call](const absl::Status& status) {
    call->procedure().last_closure.store(LocalWork::TypeOfPiece(),
                                         std::memory_order_relaxed);
    call->End(status);
  });
}

bool ProgramRun::MayRun(const Activation& activation) {
  return !cancellation_->IsCancelled() && !failure_.Precedes(activation);
}

absl::Status ProgramRun::Fail(const absl::Status& status,
                              const Activation& activation) {
  // What fails only because something else did is no failure of its own.
  if (!absl::IsCancelled(status)) failure_.Record(activation, status);
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
  const std::optional<Failure<absl::Status>> first = failure_.Get();
  if (!first.has_value()) return status;
  const std::vector<std::string>& names = procedures_->names();
  return tf::errors::CreateWithUpdatedMessage(
      first->error,
      absl::StrCat("SubGraph '", names[first->procedure], "' failed at ",
                   FormatPath(first->path, mapped_, names), ": ",
                   first->error.message()));
}

void ProgramRun::Close() {
  kernel_cancellation_.reset();
  cancellation_.reset();
}

}  // namespace recursive_tf
