#include "recursive_tf/cc/tf/program_run.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/path.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

std::unique_ptr<tf::CancellationManager> MakeCancellation(
    tf::CancellationManager* parent) {
  return parent == nullptr ? std::make_unique<tf::CancellationManager>()
                           : std::make_unique<tf::CancellationManager>(parent);
}

tf::FunctionLibraryRuntime::Options OptionsOf(
    tf::OpKernelContext* ctx, tf::CancellationManager* cancellation) {
  tf::FunctionLibraryRuntime::Options options(ctx->step_id());
  options.rendezvous = ctx->rendezvous();
  options.cancellation_manager = cancellation;
  options.collective_executor = ctx->collective_executor();
  options.step_container = ctx->step_container();
  options.stats_collector = ctx->stats_collector();
  options.runner = ctx->runner();
  return options;
}

}  // namespace

ProgramRun::ProgramRun(const Procedures* procedures,
                       std::vector<tf::Tensor> captures, bool mapped,
                       tf::CancellationManager* parent)
    : procedures_(procedures),
      captures_(std::move(captures)),
      mapped_(mapped),
      cancellation_(MakeCancellation(parent)) {}

void ProgramRun::Call(tf::OpKernelContext* ctx, const Activation& activation,
                      int procedure, std::vector<tf::Tensor> arguments,
                      Done done) {
  // Checked here, because a chain of calls may have no other op that would
  // notice that its step was cancelled.
  if (cancellation_->IsCancelled()) {
    done(absl::CancelledError("The root call was cancelled."), {});
    return;
  }
  for (int index : procedures_->captures(procedure)) {
    arguments.push_back(captures_[index]);
  }
  // The runtime writes the results before it calls back.
  auto results = std::make_unique<std::vector<tf::Tensor>>();
  std::vector<tf::Tensor>* results_ptr = results.get();
  procedures_->runtime()->Run(
      OptionsOf(ctx, cancellation_.get()), procedures_->handle(procedure),
      arguments, results_ptr,
      [this, &activation, results = results.release(),
       done = std::move(done)](const absl::Status& status) {
        const std::unique_ptr<std::vector<tf::Tensor>> owned(results);
        if (status.ok()) {
          done(status, std::move(*owned));
        } else {
          done(Fail(status, activation), {});
        }
      });
}

absl::Status ProgramRun::Fail(const absl::Status& status,
                              const Activation& activation) {
  // What fails only because something else did is not the error to report.
  if (!absl::IsCancelled(status) && !first_error_.Get().has_value()) {
    first_error_.Record(tf::errors::CreateWithUpdatedMessage(
        status, absl::StrCat("SubGraph '", NameOf(activation), "' failed at ",
                             PathOf(activation), ": ", status.message())));
  }
  cancellation_->StartCancel();
  return Outcome(status);
}

absl::Status ProgramRun::Outcome(const absl::Status& status) const {
  return first_error_.Get().value_or(status);
}

std::string ProgramRun::PathOf(const Activation& activation) const {
  return FormatPath(activation, mapped_, *procedures_->names());
}

const std::string& ProgramRun::NameOf(const Activation& activation) const {
  return (*procedures_->names())[activation.procedure];
}

}  // namespace recursive_tf
