// InvokeOp in the batched executor: a root call, with all activations in lock
// step.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/kernels/batched_kernel.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_forward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/bind_batched.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/late_parts.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Reads what a forward root op takes and returns.
absl::Status ReadTypes(tf::OpKernelConstruction* ctx, RootTypes* types) {
  TF_RETURN_IF_ERROR(ctx->GetAttr("Targs", &types->arguments));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Tcaptures", &types->captures));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Toutputs", &types->results));
  return ctx->GetAttr("Tpushed", &types->tables);
}

class InvokeBatchedOp : public BatchedKernel {
 public:
  explicit InvokeBatchedOp(tf::OpKernelConstruction* ctx) : BatchedKernel(ctx) {
    OP_REQUIRES_OK(ctx, results_.Read(ctx));
    OP_REQUIRES_OK(ctx, ReadTypes(ctx, &types_));
    OP_REQUIRES_OK(ctx, BatchedSpec::Read(ctx, &program_));
    forward_ = std::make_unique<BatchedForwardSpec>(&program_);
    OP_REQUIRES_OK(ctx, ReadBlocks(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("prologue_captures", &prologue_captures_));
    OP_REQUIRES_OK(ctx, HoldLastRuns(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep", &forward_->keep));
    OP_REQUIRES_OK(ctx, ReadPolicy(ctx));
    OP_REQUIRES_OK(ctx, ReadLimits(ctx, &forward_->limits));
    forward_->mapped = mapped();
    OP_REQUIRES(ctx, !forward_->keep || program_.has_gradients,
                absl::InvalidArgumentError("There is no gradient plan."));
  }

 private:
  void ComputeInline(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(CatchExceptions([&] { return TryCompute(ctx); },
                                   program_.names.data()));
  }

  absl::Status Bind(
      const tf::FunctionLibraryDefinition& library) const override {
    return BindForward(program_, block_specs_, forward_->late, types_,
                       prologue_captures_, forward_->keep, library);
  }

  absl::Status HoldLastRuns(tf::OpKernelConstruction* ctx) {
    std::vector<tf::NameAttrList> procedures;
    TF_RETURN_IF_ERROR(ctx->GetAttr("procedures", &procedures));
    forward_->runs = ReportBoard::Global().Of(procedures.front().name());
    return absl::OkStatus();
  }

  absl::Status ReadPolicy(tf::OpKernelConstruction* ctx) {
    std::vector<std::string>& places = forward_->block_places;
    TF_RETURN_IF_ERROR(ctx->GetAttr("block_places", &places));
    if (places.size() != static_cast<size_t>(program_.plan.num_blocks)) {
      return absl::InvalidArgumentError("block_places do not fit the plan.");
    }
    std::string policy;
    TF_RETURN_IF_ERROR(ctx->GetAttr("policy", &policy));
    forward_->policy = MakePolicy(policy, &forward_->order, places);
    if (forward_->policy != nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("There is no policy '", policy, "'."));
  }

  absl::Status ReadBlocks(tf::OpKernelConstruction* ctx) {
    TF_RETURN_IF_ERROR(
        BatchedSpec::ReadBlocks(ctx, "blocks", kManyRows, &block_specs_));
    const auto num_blocks = static_cast<size_t>(program_.plan.num_blocks);
    if (block_specs_.size() != num_blocks ||
        program_.block_names.size() != num_blocks) {
      return absl::InvalidArgumentError(
          "blocks and block_names do not fit the plan.");
    }
    TF_RETURN_IF_ERROR(BatchedSpec::ReadBlockKind(ctx, &block_specs_));
    TF_RETURN_IF_ERROR(BatchedSpec::ReadSharing(ctx, &block_specs_));
    for (size_t i = 0; i < num_blocks; ++i) {
      block_specs_[i].label = program_.block_names[i];
    }
    tf::NameAttrList prologue;
    TF_RETURN_IF_ERROR(ctx->GetAttr("prologue", &prologue));
    block_specs_.push_back({prologue.name(), {}, kManyRowsOnce});
    return LateParts::Read(ctx, program_.plan.num_blocks, &forward_->late,
                           &block_specs_);
  }

  absl::Status TryCompute(tf::OpKernelContext* ctx) {
    const Blocks* blocks = nullptr;
    TF_RETURN_IF_ERROR(GetBlocks(ctx, &blocks));
    std::vector<tf::Tensor> arguments;
    TF_RETURN_IF_ERROR(InputList(ctx, "args", &arguments));
    int64_t num_rows = 1;
    if (mapped()) {
      TF_RETURN_IF_ERROR(CountRows(arguments, &num_rows));
    } else {
      for (tf::Tensor& argument : arguments) {
        TF_RETURN_IF_ERROR(AsOneRow(argument, &argument));
      }
    }
    std::vector<tf::Tensor> captures;
    TF_RETURN_IF_ERROR(Captures(ctx, &captures));
    PushTables pushes;
    TF_RETURN_IF_ERROR(results_.MakePushTables(ctx, &pushes));
    const BatchedStep step(ctx);
    const TraceSpan span(program_.names.front(), "call", num_rows);
    BatchedForward run(forward_.get(), blocks, &step, &pushes);
    TF_RETURN_IF_ERROR(run.Run(arguments, static_cast<int32_t>(num_rows),
                               std::move(captures)));
    TF_RETURN_IF_ERROR(num_rows == 0 ? results_.SetOutputsOfNoRows(ctx)
                                     : SetOutputs(ctx, &run));
    TF_RETURN_IF_ERROR(OfSubGraph(RootResults::SetPushed(ctx, pushes),
                                  program_.names.front()));
    BatchedHandle handle;
    Returned returned;
    if (forward_->keep) {
      TF_RETURN_IF_ERROR(results_.Describe(ctx, &returned));
    }
    handle.record = run.Finish(std::move(returned));
    return ctx->set_output("activation", HandleTensor(std::move(handle)));
  }

  absl::Status Captures(tf::OpKernelContext* ctx,
                        std::vector<tf::Tensor>* captures) const {
    tf::OpInputList all;
    TF_RETURN_IF_ERROR(ctx->input_list("captures", &all));
    for (const int32_t index : prologue_captures_) {
      captures->push_back(all[index]);
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, BatchedForward* run) const {
    std::vector<tf::Tensor> results;
    TF_RETURN_IF_ERROR(run->Results(&results));
    tf::OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("outputs", &outputs));
    for (int i = 0; i < outputs.size(); ++i) {
      if (!mapped()) TF_RETURN_IF_ERROR(OnlyRow(results[i], &results[i]));
      outputs.set(i, results[i]);
    }
    return absl::OkStatus();
  }

  RootResults results_;
  RootTypes types_;
  BatchedSpec program_;
  std::vector<int32_t> prologue_captures_;
  std::unique_ptr<BatchedForwardSpec> forward_;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveInvokeBatched").Device(tf::DEVICE_CPU),
                        InvokeBatchedOp);

}  // namespace
}  // namespace recursive_tf
