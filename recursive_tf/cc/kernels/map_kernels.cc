// `.map` in a body: a call site that invokes its callee once for each row, and
// the mirror of it in gradient bodies.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/local_work.h"
#include "recursive_tf/cc/tf/backward_run.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Sets `*rows` to the arguments of each invocation: a row of each argument, and
// the last `num_shared` of them as they are.
absl::Status SplitRowsAndShare(std::vector<tf::Tensor> arguments,
                               int num_shared,
                               std::vector<std::vector<tf::Tensor>>* rows) {
  const std::vector<tf::Tensor> shared(arguments.end() - num_shared,
                                       arguments.end());
  arguments.resize(arguments.size() - num_shared);
  TF_RETURN_IF_ERROR(SplitRows(std::move(arguments), /*mapped=*/true, rows));
  for (std::vector<tf::Tensor>& row : *rows) {
    row.insert(row.end(), shared.begin(), shared.end());
  }
  return absl::OkStatus();
}

class MapOp : public tf::AsyncOpKernel {
 public:
  explicit MapOp(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("callee", &callee_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("site", &site_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("repeated", &repeated_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_shared", &num_shared_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &output_shapes_));
    OP_REQUIRES(
        ctx,
        num_shared_ >= 0 && num_shared_ < ctx->num_inputs() - 1 &&
            static_cast<int>(output_shapes_.size()) == ctx->num_outputs() - 1,
        absl::InvalidArgumentError(
            "num_shared or output_shapes do not fit the map."));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    const ActivationHandle* caller = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, GetCaller(ctx, &caller), done);
    std::vector<tf::Tensor> arguments;
    OP_REQUIRES_OK_ASYNC(ctx, InputList(ctx, "args", &arguments), done);
    MapHandle handle;
    std::vector<std::vector<tf::Tensor>> rows;
    OP_REQUIRES_OK_ASYNC(ctx, CatchExceptions([&] {
                           return MakeRows(*caller, arguments, &rows);
                         }),
                         done);
    if (rows.empty()) {
      handle.no_rows = std::move(arguments);
      OP_REQUIRES_OK_ASYNC(ctx, SetOutputsOfNoRows(ctx, *caller), done);
      SetHandleOutput(ctx, std::move(handle));
      done();
      return;
    }
    // All of them before any of them, which may end before the next one starts.
    std::vector<absl::Status> entered(rows.size());
    handle.activations.resize(rows.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      entered[row] = Enter(*caller, row, &handle.activations[row]);
    }
    const std::vector<const Activation*> activations = handle.activations;
    if (!caller->run->record->activations.keeps()) handle.activations.clear();
    SetHandleOutput(ctx, std::move(handle));
    Invoke(ctx, *caller, activations, entered, std::move(rows),
           std::move(done));
  }

 private:
  absl::Status MakeRows(const ActivationHandle& caller,
                        const std::vector<tf::Tensor>& arguments,
                        std::vector<std::vector<tf::Tensor>>* rows) const {
    // All of them enter before one starts. If there is no room for that,
    // nothing is made for any of them.
    const tf::Tensor& first = arguments.front();
    const int64_t num_rows = first.dims() == 0 ? 0 : first.dim_size(0);
    TF_RETURN_IF_ERROR(caller.run->CheckRoom(
        {caller.activation, callee_, site_, /*ordinal=*/0}, num_rows));
    return SplitRowsAndShare(arguments, num_shared_, rows);
  }

  absl::Status Enter(const ActivationHandle& caller, size_t row,
                     const Activation** activation) const {
    ForwardRun* const run = caller.run;
    // In a loop the rows of the second turn are not those of the first.
    const bool counts = repeated_ && run->record->activations.keeps();
    const Invocation invocation{
        caller.activation, callee_, site_,
        counts ? run->ordinals.Next(*caller.activation, site_)
               : static_cast<int32_t>(row)};
    Activation* made = nullptr;
    const absl::Status status = run->Enter(invocation, &made);
    *activation = made;
    return status;
  }

  void Invoke(tf::OpKernelContext* ctx, const ActivationHandle& caller,
              const std::vector<const Activation*>& activations,
              const std::vector<absl::Status>& entered,
              std::vector<std::vector<tf::Tensor>> rows,
              DoneCallback done) const {
    // What ends last lets go of the inputs, and the caller's handle with them.
    ActivationHandle handle = caller;
    ForwardRun* const run = handle.run;
    const RowCall::Done end_row =
        EndRows(rows.size(),
                [this, ctx, run, done = std::move(done)](const auto& results) {
                  ctx->SetStatus(SetOutputs(ctx, run, *results));
                  const LocalWork::Scope scope;
                  done();
                });
    for (size_t row = 0; row < activations.size(); ++row) {
      if (!entered[row].ok()) {
        end_row(row, entered[row], {});
        continue;
      }
      handle.activation = activations[row];
      run->program.Start(new RowCall(
          &run->program, activations[row], &run->record->activations,
          HandleTensor(handle), row, std::move(rows[row]), end_row));
    }
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, ForwardRun* run,
                          const RowResults& results) const {
    TF_RETURN_IF_ERROR(results.status());
    return StackOutputs(ctx, "outputs", results, NameOfCallee(run));
  }

  absl::Status SetOutputsOfNoRows(tf::OpKernelContext* ctx,
                                  const ActivationHandle& caller) const {
    tf::OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("outputs", &outputs));
    for (int i = 0; i < outputs.size(); ++i) {
      tf::PartialTensorShape row_shape = output_shapes_[i];
      if (row_shape.dims() != 0) row_shape.RemoveDim(0);
      tf::Tensor none;
      TF_RETURN_IF_ERROR(
          StackNoRows(outputs.expected_output_dtype(i), row_shape,
                      NameOfOutput(NameOfCallee(caller.run), i), &none));
      outputs.set(i, none);
    }
    return absl::OkStatus();
  }

  const std::string& NameOfCallee(const ForwardRun* run) const {
    return run->program.procedures().names()[callee_];
  }

  static void SetHandleOutput(tf::OpKernelContext* ctx, MapHandle handle) {
    ctx->set_output(ctx->num_outputs() - 1, HandleTensor(std::move(handle)));
  }

  int32_t callee_ = 0;
  int32_t site_ = 0;
  bool repeated_ = false;
  int num_shared_ = 0;
  std::vector<tf::PartialTensorShape> output_shapes_;
};

class MapGradientOp : public tf::AsyncOpKernel {
 public:
  explicit MapGradientOp(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_shared", &num_shared_));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    const GradientHandle* caller = nullptr;
    const MapHandle* map = nullptr;
    std::vector<tf::Tensor> gradients;
    OP_REQUIRES_OK_ASYNC(ctx, GetCaller(ctx, &caller), done);
    OP_REQUIRES_OK_ASYNC(ctx, GetHandle(ctx, 1, &map), done);
    OP_REQUIRES_OK_ASYNC(ctx, InputList(ctx, "output_gradients", &gradients),
                         done);
    if (!map->no_rows.empty()) {
      OP_REQUIRES_OK_ASYNC(
          ctx, SetGradientsOfNoRows(ctx, map->no_rows, num_shared_), done);
      done();
      return;
    }
    OP_REQUIRES_ASYNC(ctx, !map->activations.empty(),
                      absl::FailedPreconditionError(
                          "The forward map kept no values for its gradient."),
                      done);
    std::vector<std::vector<tf::Tensor>> rows(map->activations.size());
    if (!gradients.empty()) {
      rows.clear();
      OP_REQUIRES_OK_ASYNC(
          ctx, SplitRows(std::move(gradients), /*mapped=*/true, &rows), done);
    }
    OP_REQUIRES_ASYNC(
        ctx, rows.size() == map->activations.size(),
        absl::InvalidArgumentError(absl::StrCat(
            "The forward call mapped over ", map->activations.size(),
            " rows, but its gradient got ", rows.size(), ".")),
        done);
    for (const Activation* activation : map->activations) {
      OP_REQUIRES_OK_ASYNC(
          ctx,
          caller->run->CheckCall(*activation, ctx->num_inputs() - 2,
                                 ctx->num_outputs()),
          done);
    }
    Invoke(ctx, caller->run, *map, std::move(rows), std::move(done));
  }

 private:
  void Invoke(tf::OpKernelContext* ctx, BackwardRun* run, const MapHandle& map,
              std::vector<std::vector<tf::Tensor>> rows,
              DoneCallback done) const {
    // What ends last lets go of the inputs, and the handle with them.
    const std::vector<const Activation*> activations = map.activations;
    const RowCall::Done end_row = EndRows(
        rows.size(), [this, ctx, done = std::move(done)](const auto& results) {
          ctx->SetStatus(SetOutputs(ctx, *results));
          const LocalWork::Scope scope;
          done();
        });
    for (size_t row = 0; row < activations.size(); ++row) {
      GradientHandle handle;
      handle.run = run;
      handle.activation = activations[row];
      run->program.Start(new RowCall(&run->program, activations[row],
                                     /*tree=*/nullptr, HandleTensor(handle),
                                     row, std::move(rows[row]), end_row));
    }
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx,
                          const RowResults& results) const {
    TF_RETURN_IF_ERROR(results.status());
    tf::OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("input_gradients", &outputs));
    TF_RETURN_IF_ERROR(results.CheckCount(outputs.size()));
    const int num_rows_outputs = outputs.size() - num_shared_;
    for (int i = 0; i < outputs.size(); ++i) {
      const std::vector<tf::Tensor> column = results.Column(i);
      if (i >= num_rows_outputs) {
        tf::Tensor sum;
        TF_RETURN_IF_ERROR(Sum(column, &sum));
        outputs.set(i, sum);
        continue;
      }
      tf::Tensor stacked;
      TF_RETURN_IF_ERROR(StackRows(
          column, absl::StrCat("The gradient of argument ", i), &stacked));
      outputs.set(i, stacked);
    }
    return absl::OkStatus();
  }

  static absl::Status Sum(const std::vector<tf::Tensor>& tensors,
                          tf::Tensor* sum) {
    *sum = tensors.front();
    for (size_t i = 1; i < tensors.size(); ++i) {
      TF_RETURN_IF_ERROR(AddTensors(tensors[i], sum));
    }
    return absl::OkStatus();
  }

  // Of how many of its outputs the gradients are sums.
  int num_shared_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveMap").Device(tf::DEVICE_CPU), MapOp);
REGISTER_KERNEL_BUILDER(Name("StatelessRecursiveMap").Device(tf::DEVICE_CPU),
                        MapOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveMapGradient").Device(tf::DEVICE_CPU),
                        MapGradientOp);

}  // namespace
}  // namespace recursive_tf
