// The gradient of InvokeOp (Jeong et al. 2018, section 4.2.2): gradient
// SubGraphs run for the activations of the forward call, at the same call
// sites.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/kernels/root_kernel.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/tf/backward_run.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/planted_fault.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/shared_backward.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using Sinks = BackwardRun::Sinks;

tf::Tensor HandleOf(BackwardRun* run, const Activation* activation) {
  GradientHandle handle;
  handle.run = run;
  handle.activation = activation;
  return HandleTensor(handle);
}

class InvokeGradientOp : public RootKernel {
 public:
  explicit InvokeGradientOp(tf::OpKernelConstruction* ctx) : RootKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Toutput_gradients", &types_.arguments));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tinput_gradients", &types_.results));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tpushed_gradients", &types_.tables));
    OP_REQUIRES_OK(ctx, ReadSinks(ctx));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    std::vector<std::vector<tf::Tensor>> rows;
    std::shared_ptr<BackwardRun> run;
    OP_REQUIRES_OK_ASYNC(ctx, OfRoot(Prepare(ctx, &rows, &run)), done);
    done = Traced("gradient of call", static_cast<int64_t>(rows.size()),
                  std::move(done));
    if (rows.empty()) {
      End(ctx, run.get(), RowResults(0), absl::OkStatus(), done);
      return;
    }
    const RowCall::Done end_row =
        EndRows(rows.size(), [this, ctx, run, done](const auto& results) {
          RunSharedGradients(
              run, results->status(),
              [this, ctx, run, results, done](const absl::Status& of_shared) {
                End(ctx, run.get(), *results, of_shared, done);
              });
        });
    for (size_t row = 0; row < rows.size(); ++row) {
      const Activation* activation = run->forward->roots[row];
      run->program.Start(new RowCall(
          &run->program, activation, /*tree=*/nullptr,
          HandleOf(run.get(), activation), row, std::move(rows[row]), end_row));
    }
  }

 private:
  absl::Status ReadSinks(tf::OpKernelConstruction* ctx) {
    std::vector<std::string> kinds;
    tf::DataTypeVector parts;
    tf::DataTypeVector shapes;
    TF_RETURN_IF_ERROR(ctx->GetAttr("slot_kinds", &kinds));
    TF_RETURN_IF_ERROR(ctx->GetAttr("slot_sizes", &slot_sizes_));
    TF_RETURN_IF_ERROR(ctx->GetAttr("sink_shapes", &sink_shapes_));
    TF_RETURN_IF_ERROR(ctx->GetAttr("Tsinks", &parts));
    TF_RETURN_IF_ERROR(ctx->GetAttr("Tsum_shapes", &shapes));
    size_t num_sums = 0;
    auto next = parts.begin();
    bool fits = kinds.size() == slot_sizes_.size();
    for (size_t slot = 0; fits && slot < kinds.size(); ++slot) {
      const bool is_sum = kinds[slot] == "summed";
      const int32_t size = slot_sizes_[slot];
      kinds_.push_back(is_sum ? Sinks::Kind::kSummed : Sinks::Kind::kCollected);
      num_sums += is_sum ? 1 : 0;
      fits = size >= 1 && size <= parts.end() - next && (!is_sum || size == 1);
      if (!fits) break;
      types_.sinks.emplace_back(next, next + size);
      next += size;
    }
    if (fits && next == parts.end() && num_sums == shapes.size() &&
        sink_shapes_.size() == parts.size()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        "The gradient of a program is damaged: its sinks have other kinds, "
        "sizes or shapes. Trace or save the model again.");
  }

  void End(tf::OpKernelContext* ctx, BackwardRun* run,
           const RowResults& results, const absl::Status& status,
           const DoneCallback& done) {
    const absl::Status outcome = run->program.Outcome(status);
    ctx->SetStatus(outcome.ok() ? OfRoot(SetOutputs(ctx, run, results))
                                : outcome);
    run->program.Close();
    done();
  }

  absl::Status Prepare(tf::OpKernelContext* ctx,
                       std::vector<std::vector<tf::Tensor>>* rows,
                       std::shared_ptr<BackwardRun>* run) {
    TF_RETURN_IF_ERROR(BackwardRun::CheckDeterminism(subgraph()));
    const RootHandle* handle = nullptr;
    TF_RETURN_IF_ERROR(GetHandle(ctx, 0, &handle));
    const std::shared_ptr<const ForwardRecord>& forward = handle->record;
    if (forward == nullptr || !forward->activations.keeps()) {
      return absl::FailedPreconditionError(
          "The forward call kept no values for its gradient.");
    }
    std::vector<tf::Tensor> gradients;
    std::vector<tf::Tensor> captures;
    TF_RETURN_IF_ERROR(InputList(ctx, "output_gradients", &gradients));
    TF_RETURN_IF_ERROR(InputList(ctx, "captures", &captures));
    std::vector<tf::Tensor> push_gradients;
    TF_RETURN_IF_ERROR(InputList(ctx, "pushed_gradients", &push_gradients));
    TF_RETURN_IF_ERROR(
        forward->returned.CheckGradients(gradients, push_gradients));
    // Only now: what is wrong with a gradient is not said of the program.
    const Procedures* procedures = nullptr;
    TF_RETURN_IF_ERROR(GetProcedures(ctx, &procedures));
    if (mapped() && gradients.empty()) {
      rows->resize(forward->roots.size());
    } else {
      TF_RETURN_IF_ERROR(SplitRows(std::move(gradients), mapped(), rows));
    }
    if (rows->size() != forward->roots.size()) {
      return absl::InvalidArgumentError(
          "The gradient of a map is not one of as many rows.");
    }
    // Last, because a run that is made must be closed before the op is done.
    *run = std::make_shared<BackwardRun>(procedures, std::move(captures),
                                         mapped(), ctx, forward);
    (*run)->sinks = std::make_unique<Sinks>(kinds_, &AddTensors);
    (*run)->push_gradients = std::move(push_gradients);
    return absl::OkStatus();
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, BackwardRun* run,
                          const RowResults& results) {
    if (results.num_rows() == 0) {
      TF_RETURN_IF_ERROR(
          SetGradientsOfNoRows(ctx, run->forward->no_rows, /*num_shared=*/0));
    } else {
      TF_RETURN_IF_ERROR(SetOutputsFromRows(ctx, "input_gradients", results));
    }
    return SetSinks(ctx, run);
  }

  absl::Status SetSinks(tf::OpKernelContext* ctx, BackwardRun* run) {
    tf::OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("sinks", &outputs));
    std::vector<tf::Tensor> sum_shapes;
    TF_RETURN_IF_ERROR(InputList(ctx, "sum_shapes", &sum_shapes));
    int next_output = 0;
    size_t next_sum = 0;
    for (size_t slot = 0; slot < kinds_.size(); ++slot) {
      const std::vector<Sinks::Contribution> contributions =
          run->sinks->Take(slot);
      if (kinds_[slot] == Sinks::Kind::kSummed) {
        TF_RETURN_IF_ERROR(SetSum(contributions, sum_shapes[next_sum++],
                                  next_output++, &outputs));
        continue;
      }
      for (int i = 0; i < slot_sizes_[slot]; ++i) {
        TF_RETURN_IF_ERROR(
            SetCollected(contributions, i, next_output++, &outputs));
      }
    }
    return absl::OkStatus();
  }

  static absl::Status SetSum(
      const std::vector<Sinks::Contribution>& contributions,
      const tf::Tensor& shape, int output, tf::OpOutputList* outputs) {
    if (!contributions.empty()) {
      outputs->set(output, contributions.front().front());
      return absl::OkStatus();
    }
    if (shape.dims() != 1) {
      return absl::InvalidArgumentError("A shape of sum_shapes is no vector.");
    }
    tf::TensorShape full;
    TF_RETURN_IF_ERROR(
        tf::TensorShapeUtils::MakeShape(shape.vec<int64_t>(), &full));
    tf::Tensor* zeros = nullptr;
    TF_RETURN_IF_ERROR(outputs->allocate(output, full, &zeros));
    std::memset(zeros->data(), 0, zeros->TotalBytes());
    return absl::OkStatus();
  }

  absl::Status SetCollected(
      const std::vector<Sinks::Contribution>& contributions, int part,
      int output, tf::OpOutputList* outputs) const {
    std::vector<tf::Tensor> parts;
    parts.reserve(contributions.size());
    for (const Sinks::Contribution& contribution : contributions) {
      parts.push_back(contribution[part]);
    }
    tf::Tensor rows;
    TF_RETURN_IF_ERROR(ConcatRows(parts, outputs->expected_output_dtype(output),
                                  sink_shapes_[output], &rows));
    outputs->set(output, rows);
    return absl::OkStatus();
  }

  std::vector<Sinks::Kind> kinds_;
  std::vector<int32_t> slot_sizes_;
  std::vector<tf::PartialTensorShape> sink_shapes_;
};

// The mirror of a call site.
class CallGradientOp : public tf::AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    const GradientHandle* caller = nullptr;
    const ActivationHandle* callee = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, GetCaller(ctx, &caller), done);
    OP_REQUIRES_OK_ASYNC(ctx, GetHandle(ctx, 1, &callee), done);
    OP_REQUIRES_ASYNC(ctx, callee->activation != nullptr,
                      absl::FailedPreconditionError(
                          "The forward call kept no values for its gradient."),
                      done);
    BackwardRun* run = caller->run;
    OP_REQUIRES_OK_ASYNC(
        ctx,
        run->CheckCall(*callee->activation, ctx->num_inputs() - 2,
                       ctx->num_outputs()),
        done);
    run->program.Start(
        new SiteCall(&run->program, callee->activation,
                     /*tree=*/nullptr, HandleOf(run, callee->activation),
                     {ctx, /*first_argument=*/2, std::move(done)}));
  }
};

// Hands a contribution to a capture's gradient to the root.
class SinkOp : public tf::OpKernel {
 public:
  explicit SinkOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("slot", &slot_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const GradientHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &handle));
    OP_REQUIRES_OK(ctx, PlantedFault(Faults::Kind::kDeferred));
    Sinks::Contribution contribution;
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      contribution.push_back(ctx->input(i));
    }
    const absl::Status status =
        handle->run->sinks->Add(slot_, std::move(contribution));
    if (!status.ok()) {
      ctx->SetStatus(handle->run->program.Fail(status, *handle->activation));
    }
  }

 private:
  int32_t slot_ = 0;
};

// The gradient of a push: the row of the table's gradient.
class PushGradientOp : public tf::OpKernel {
 public:
  explicit PushGradientOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("slot", &slot_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const GradientHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &handle));
    const tf::Tensor& table = handle->run->push_gradients[slot_];
    // The forward call pushed to it.
    const tf::Tensor& index = ctx->input(1);
    OP_REQUIRES(ctx,
                index.dims() == 0 && index.scalar<int64_t>()() >= 0 &&
                    index.scalar<int64_t>()() < table.dim_size(0),
                absl::InternalError("A table's gradient lacks a row."));
    tf::Tensor row;
    OP_REQUIRES_OK(ctx, CopyRow(table, index.scalar<int64_t>()(), &row));
    ctx->set_output(0, row);
  }

 private:
  int32_t slot_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveInvokeGradient").Device(tf::DEVICE_CPU),
                        InvokeGradientOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveCallGradient").Device(tf::DEVICE_CPU),
                        CallGradientOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveSink").Device(tf::DEVICE_CPU), SinkOp);
REGISTER_KERNEL_BUILDER(Name("RecursivePushGradient").Device(tf::DEVICE_CPU),
                        PushGradientOp);

}  // namespace
}  // namespace recursive_tf
