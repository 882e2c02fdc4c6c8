// InvokeOp (Jeong et al. 2018, section 3.2): the root call, and the call sites
// in bodies. Both re-enter TensorFlow's executor with a procedure's function.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/kernels/root_kernel.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

tf::Tensor HandleOf(ForwardRun* run, const Activation* activation) {
  ActivationHandle handle;
  handle.run = run;
  handle.activation = activation;
  return HandleTensor(handle);
}

class InvokeOp : public RootKernel {
 public:
  explicit InvokeOp(tf::OpKernelConstruction* ctx) : RootKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep", &keep_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("max_depth", &limits_.max_depth));
    OP_REQUIRES_OK(ctx,
                   ctx->GetAttr("max_activations", &limits_.max_activations));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("output_shapes", &output_shapes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("push_names", &push_names_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("pushed_shapes", &pushed_shapes_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tpushed", &pushed_types_));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    std::vector<std::vector<tf::Tensor>> rows;
    std::shared_ptr<ForwardRun> run;
    OP_REQUIRES_OK_ASYNC(ctx, Prepare(ctx, &rows, &run), done);
    auto results = std::make_shared<RowResults>(rows.size());
    if (rows.empty()) {
      End(ctx, run.get(), *results, done);
      return;
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      InvokeRow(
          run, row, std::move(rows[row]),
          [this, ctx, run, results, row, done](
              const absl::Status& status, std::vector<tf::Tensor> row_results) {
            if (!results->End(row, status, std::move(row_results))) {
              return;
            }
            End(ctx, run.get(), *results, done);
          });
    }
  }

 private:
  void End(tf::OpKernelContext* ctx, ForwardRun* run, const RowResults& results,
           const DoneCallback& done) {
    ctx->SetStatus(SetOutputs(ctx, run, results));
    run->program.Close();
    done();
  }

  absl::Status Prepare(tf::OpKernelContext* ctx,
                       std::vector<std::vector<tf::Tensor>>* rows,
                       std::shared_ptr<ForwardRun>* run) {
    const Procedures* procedures = nullptr;
    TF_RETURN_IF_ERROR(GetProcedures(ctx, &procedures));
    std::vector<tf::Tensor> arguments;
    std::vector<tf::Tensor> captures;
    TF_RETURN_IF_ERROR(InputList(ctx, "args", &arguments));
    TF_RETURN_IF_ERROR(InputList(ctx, "captures", &captures));
    TF_RETURN_IF_ERROR(SplitRows(arguments, mapped(), rows));
    std::vector<std::unique_ptr<PushTable>> pushes;
    TF_RETURN_IF_ERROR(MakePushTables(ctx, &pushes));
    // Last, because a run that is made must be closed before the op is done.
    *run = std::make_shared<ForwardRun>(
        procedures, std::move(captures), mapped(), ctx,
        std::make_shared<ForwardRecord>(limits_, keep_));
    (*run)->record->roots.resize(rows->size());
    if (rows->empty()) (*run)->record->no_rows = std::move(arguments);
    (*run)->pushes = std::move(pushes);
    return absl::OkStatus();
  }

  absl::Status MakePushTables(tf::OpKernelContext* ctx,
                              std::vector<std::unique_ptr<PushTable>>* tables) {
    std::vector<tf::Tensor> sizes;
    TF_RETURN_IF_ERROR(InputList(ctx, "push_sizes", &sizes));
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t size =
          sizes[i].NumElements() == 1 ? sizes[i].flat<int64_t>()(0) : -1;
      if (size < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("size= of push '", push_names_[i],
                         "' must be a scalar that is not negative; got ",
                         sizes[i].DebugString(), "."));
      }
      tables->push_back(std::make_unique<PushTable>(
          push_names_[i], size, pushed_types_[i], pushed_shapes_[i]));
    }
    return absl::OkStatus();
  }

  static void InvokeRow(const std::shared_ptr<ForwardRun>& run, size_t row,
                        std::vector<tf::Tensor> arguments,
                        RootCall::Done done) {
    const Invocation invocation{/*parent=*/nullptr, /*procedure=*/0, kRootSite,
                                static_cast<int32_t>(row)};
    Activation* activation = nullptr;
    const absl::Status entered = run->Enter(invocation, &activation);
    if (!entered.ok()) {
      done(entered, {});
      return;
    }
    run->record->roots[row] = activation;
    run->program.Start(new RootCall(&run->program, activation,
                                    &run->record->activations,
                                    HandleOf(run.get(), activation),
                                    std::move(arguments), std::move(done)));
  }

  absl::Status SetOutputsOfNoRows(tf::OpKernelContext* ctx) const {
    tf::OpOutputList outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("outputs", &outputs));
    for (int i = 0; i < outputs.size(); ++i) {
      tf::Tensor none;
      TF_RETURN_IF_ERROR(StackNoRows(outputs.expected_output_dtype(i),
                                     output_shapes_[i], NameOfOutput(i),
                                     &none));
      outputs.set(i, none);
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, ForwardRun* run,
                          const RowResults& results) {
    TF_RETURN_IF_ERROR(run->program.Outcome(results.status()));
    TF_RETURN_IF_ERROR(results.num_rows() == 0
                           ? SetOutputsOfNoRows(ctx)
                           : SetOutputsFromRows(ctx, "outputs", results));
    tf::OpOutputList pushed;
    TF_RETURN_IF_ERROR(ctx->output_list("pushed", &pushed));
    for (int i = 0; i < pushed.size(); ++i) {
      tf::Tensor table;
      TF_RETURN_IF_ERROR(run->pushes[i]->Result(&table));
      pushed.set(i, table);
    }
    RootHandle handle;
    handle.record = run->record;
    return ctx->set_output("activation", HandleTensor(std::move(handle)));
  }

  bool keep_ = false;
  ActivationLimits limits_;
  std::vector<tf::PartialTensorShape> output_shapes_;
  std::vector<std::string> push_names_;
  std::vector<tf::PartialTensorShape> pushed_shapes_;
  tf::DataTypeVector pushed_types_;
};

// A call site. The stateless twin is the same kernel: it differs only in what
// TensorFlow may do with the op.
class CallOp : public tf::AsyncOpKernel {
 public:
  explicit CallOp(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("callee", &callee_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("site", &site_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("repeated", &repeated_));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    const ActivationHandle* caller = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, GetHandle(ctx, 0, &caller), done);
    ForwardRun* run = caller->run;
    // Only kept activations are named again, so only they need an ordinal.
    const bool counts = repeated_ && run->record->activations.keeps();
    const Invocation invocation{
        caller->activation, callee_, site_,
        counts ? run->ordinals.Next(*caller->activation, site_) : 0};
    Activation* activation = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, run->Enter(invocation, &activation), done);
    const tf::Tensor handle = HandleOf(run, activation);
    SetHandleOutput(ctx, run, handle);
    run->program.Start(new SiteCall(&run->program, activation,
                                    &run->record->activations, handle, ctx,
                                    /*first_argument=*/1, std::move(done)));
  }

 private:
  // The last output names the activation for the gradient. Inference has none,
  // and an activation that is not kept dies with its call.
  static void SetHandleOutput(tf::OpKernelContext* ctx, ForwardRun* run,
                              const tf::Tensor& handle) {
    const int last = ctx->num_outputs() - 1;
    if (!ctx->output_required(last)) return;
    const bool keeps = run->record->activations.keeps();
    ctx->set_output(last, keeps ? handle : HandleOf(run, nullptr));
  }

  int32_t callee_ = 0;
  int32_t site_ = 0;
  bool repeated_ = false;
};

class PushOp : public tf::OpKernel {
 public:
  explicit PushOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("slot", &slot_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const ActivationHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, GetHandle(ctx, 0, &handle));
    const absl::Status status =
        Push(handle->run->pushes[slot_].get(), ctx->input(1), ctx->input(2));
    if (!status.ok()) {
      ctx->SetStatus(handle->run->program.Fail(status, *handle->activation));
    }
  }

 private:
  static absl::Status Push(PushTable* table, const tf::Tensor& index,
                           const tf::Tensor& value) {
    if (index.dims() != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("index= of a push must be a scalar; got the shape ",
                       index.shape().DebugString(), "."));
    }
    return table->Push(index.scalar<int64_t>()(), value);
  }

  int32_t slot_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveInvoke").Device(tf::DEVICE_CPU),
                        InvokeOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveCall").Device(tf::DEVICE_CPU), CallOp);
REGISTER_KERNEL_BUILDER(Name("StatelessRecursiveCall").Device(tf::DEVICE_CPU),
                        CallOp);
REGISTER_KERNEL_BUILDER(Name("RecursivePush").Device(tf::DEVICE_CPU), PushOp);

}  // namespace
}  // namespace recursive_tf
