// InvokeOp (Jeong et al. 2018, section 3.2): the root call, and the call sites
// in bodies. Both re-enter TensorFlow's executor with a procedure's function.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/kernels/root_kernel.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/wait_graph.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

tf::Tensor HandleOf(ForwardRun* run, const Activation* activation,
                    WaitVertex* within) {
  ActivationHandle handle;
  handle.run = run;
  handle.activation = activation;
  handle.within = within;
  return HandleTensor(handle);
}

class InvokeOp : public RootKernel {
 public:
  explicit InvokeOp(tf::OpKernelConstruction* ctx) : RootKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep", &keep_));
    OP_REQUIRES_OK(ctx, ReadLimits(ctx, &limits_));
    OP_REQUIRES_OK(ctx, results_.Read(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Targs", &types_.arguments));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Toutputs", &types_.results));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("Tpushed", &types_.tables));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    std::vector<std::vector<tf::Tensor>> rows;
    std::shared_ptr<ForwardRun> run;
    OP_REQUIRES_OK_ASYNC(
        ctx, OfRoot(CatchExceptions([&] { return Prepare(ctx, &rows, &run); })),
        done);
    done = Traced("call", static_cast<int64_t>(rows.size()), std::move(done));
    if (rows.empty()) {
      End(ctx, run.get(), RowResults(0), done);
      return;
    }
    const RowCall::Done end_row =
        EndRows(rows.size(), [this, ctx, run, done](const auto& results) {
          End(ctx, run.get(), *results, done);
        });
    for (size_t row = 0; row < rows.size(); ++row) {
      InvokeRow(run, row, std::move(rows[row]), end_row);
    }
  }

 private:
  void End(tf::OpKernelContext* ctx, ForwardRun* run, const RowResults& results,
           const DoneCallback& done) {
    const absl::Status outcome = run->program.Outcome(results.status());
    ctx->SetStatus(outcome.ok() ? OfRoot(SetOutputs(ctx, run, results))
                                : outcome);
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
    PushTables pushes;
    TF_RETURN_IF_ERROR(results_.MakePushTables(ctx, &pushes));
    // Last, because a run that is made must be closed before the op is done.
    *run = std::make_shared<ForwardRun>(
        procedures, std::move(captures), mapped(), ctx,
        std::make_shared<ForwardRecord>(limits_, keep_));
    (*run)->record->roots.resize(rows->size());
    if (rows->empty()) (*run)->record->no_rows = std::move(arguments);
    (*run)->pushes = std::move(pushes);
    return absl::OkStatus();
  }

  static void InvokeRow(const std::shared_ptr<ForwardRun>& run, size_t row,
                        std::vector<tf::Tensor> arguments,
                        const RowCall::Done& end_row) {
    const Invocation invocation{/*parent=*/nullptr, /*procedure=*/0, kRootSite,
                                static_cast<int32_t>(row)};
    Activation* activation = nullptr;
    const absl::Status entered = run->Enter(invocation, &activation);
    if (!entered.ok()) {
      end_row(row, entered, {});
      return;
    }
    run->record->roots[row] = activation;
    run->program.Start(
        new RowCall(&run->program, activation, &run->record->activations,
                    HandleOf(run.get(), activation, /*within=*/nullptr), row,
                    std::move(arguments), end_row));
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, ForwardRun* run,
                          const RowResults& results) {
    TF_RETURN_IF_ERROR(results.num_rows() == 0
                           ? results_.SetOutputsOfNoRows(ctx)
                           : SetOutputsFromRows(ctx, "outputs", results));
    TF_RETURN_IF_ERROR(RootResults::SetPushed(ctx, run->pushes));
    if (keep_) {
      run->RecordShared();
      TF_RETURN_IF_ERROR(results_.Describe(ctx, &run->record->returned));
    }
    RootHandle handle;
    handle.record = run->record;
    return ctx->set_output("activation", HandleTensor(std::move(handle)));
  }

  bool keep_ = false;
  ActivationLimits limits_;
  RootResults results_;
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
    OP_REQUIRES_OK_ASYNC(ctx, GetCaller(ctx, &caller), done);
    ForwardRun* run = caller->run;
    // Only kept activations are named again, so only they need an ordinal.
    const bool counts = repeated_ && run->record->activations.keeps();
    const Invocation invocation{
        caller->activation, callee_, site_,
        counts ? run->ordinals.Next(*caller->activation, site_) : 0};
    Activation* activation = nullptr;
    OP_REQUIRES_OK_ASYNC(ctx, run->Enter(invocation, &activation), done);
    const tf::Tensor handle = HandleOf(run, activation, caller->within);
    SetHandleOutput(ctx, run, handle);
    run->program.Start(
        new SiteCall(&run->program, activation, &run->record->activations,
                     handle, {ctx, /*first_argument=*/1, std::move(done)}));
  }

 private:
  // The last output names the activation for the gradient. Inference has none,
  // and an activation that is not kept dies with its call.
  static void SetHandleOutput(tf::OpKernelContext* ctx, ForwardRun* run,
                              const tf::Tensor& handle) {
    const int last = ctx->num_outputs() - 1;
    if (!ctx->output_required(last)) return;
    const bool keeps = run->record->activations.keeps();
    ctx->set_output(last, keeps ? handle : HandleOf(run, nullptr, nullptr));
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
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &handle));
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
