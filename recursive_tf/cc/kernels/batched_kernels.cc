// InvokeOp in the batched executor, forward and backward: the same root calls,
// with all activations in lock step.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/reverse_replay.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_backward.h"
#include "recursive_tf/cc/tf/batched_forward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/bind_batched.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/late_parts.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "recursive_tf/cc/tf/signature.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// From how many rows on a transposed matrix pays: for what runs launch after
// launch, and for what runs once a root call. Measured with matrices of 300 x
// 750: transposing takes as long as a product of 40 rows, and saves a quarter.
constexpr int64_t kManyRows = 16;
constexpr int64_t kManyRowsOnce = 256;

// Reads what a forward root op takes and returns.
absl::Status ReadTypes(tf::OpKernelConstruction* ctx, RootTypes* types) {
  TF_RETURN_IF_ERROR(ctx->GetAttr("Targs", &types->arguments));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Tcaptures", &types->captures));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Toutputs", &types->results));
  return ctx->GetAttr("Tpushed", &types->tables);
}

// What the two ops have in common: the blocks, made at the first call and
// released with the kernel.
//
// Thread safety: every method may be called from any thread.
class BatchedKernel : public tf::OpKernel {
 public:
  explicit BatchedKernel(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("mapped", &mapped_));
  }

 protected:
  absl::Status GetBlocks(tf::OpKernelContext* ctx, const Blocks** blocks) {
    MutexLock lock(&mu_);
    if (blocks_ == nullptr) {
      TF_RETURN_IF_ERROR(
          Bind(*ctx->function_library()->GetFunctionLibraryDefinition()));
      TF_RETURN_IF_ERROR(
          Blocks::Create(block_specs_, ctx->function_library(), &blocks_));
    }
    *blocks = blocks_.get();
    return absl::OkStatus();
  }

  bool mapped() const { return mapped_; }

  std::vector<BlockSpec> block_specs_;

 private:
  // Checks that the attributes and the functions fit each other.
  virtual absl::Status Bind(
      const tf::FunctionLibraryDefinition& library) const = 0;

  bool mapped_ = false;

  Mutex mu_;
  std::unique_ptr<Blocks> blocks_ ABSL_GUARDED_BY(mu_);
};

class InvokeBatchedOp : public BatchedKernel {
 public:
  explicit InvokeBatchedOp(tf::OpKernelConstruction* ctx) : BatchedKernel(ctx) {
    OP_REQUIRES_OK(ctx, results_.Read(ctx));
    OP_REQUIRES_OK(ctx, ReadTypes(ctx, &types_));
    OP_REQUIRES_OK(ctx, BatchedSpec::Read(ctx, &program_));
    forward_ = std::make_unique<BatchedForwardSpec>(&program_);
    OP_REQUIRES_OK(ctx, ReadBlocks(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("prologue_captures", &prologue_captures_));
    OP_REQUIRES_OK(ctx, ReadKey(ctx));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("keep", &forward_->keep));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("policy", &forward_->policy));
    OP_REQUIRES_OK(ctx, ReadLimits(ctx, &forward_->limits));
    forward_->mapped = mapped();
    OP_REQUIRES(ctx, MakePolicy(forward_->policy) != nullptr,
                absl::InvalidArgumentError(absl::StrCat(
                    "There is no policy '", forward_->policy, "'.")));
    OP_REQUIRES(ctx, !forward_->keep || program_.has_gradients,
                absl::InvalidArgumentError("There is no gradient plan."));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(TryCompute(ctx));
  }

 private:
  absl::Status Bind(
      const tf::FunctionLibraryDefinition& library) const override {
    return BindForward(program_, block_specs_, forward_->late, types_,
                       prologue_captures_, forward_->keep, library);
  }

  absl::Status ReadKey(tf::OpKernelConstruction* ctx) {
    std::vector<tf::NameAttrList> procedures;
    TF_RETURN_IF_ERROR(ctx->GetAttr("procedures", &procedures));
    forward_->key = procedures.front().name();
    return absl::OkStatus();
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
    TF_RETURN_IF_ERROR(RootResults::SetPushed(ctx, pushes));
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

class InvokeBatchedGradientOp : public BatchedKernel {
 public:
  explicit InvokeBatchedGradientOp(tf::OpKernelConstruction* ctx)
      : BatchedKernel(ctx) {
    OP_REQUIRES_OK(ctx, BatchedSpec::Read(ctx, &backward_.program));
    OP_REQUIRES_OK(ctx, ReadBlocks(ctx));
    OP_REQUIRES_OK(ctx, ReadDeferred(ctx));
    OP_REQUIRES_OK(ctx, ReadTypes(ctx));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(TryCompute(ctx));
  }

 private:
  using Replay = ReverseReplay<tf::Tensor, BatchedBackward>;

  absl::Status Bind(
      const tf::FunctionLibraryDefinition& library) const override {
    return BindBackward(backward_, block_specs_, types_, library);
  }

  absl::Status ReadTypes(tf::OpKernelConstruction* ctx) {
    TF_RETURN_IF_ERROR(ctx->GetAttr("results", &types_.results));
    TF_RETURN_IF_ERROR(ctx->GetAttr("tables", &types_.tables));
    TF_RETURN_IF_ERROR(ctx->GetAttr("arguments", &types_.arguments));
    TF_RETURN_IF_ERROR(
        ctx->GetAttr("prologue_outputs", &types_.prologue_outputs));
    TF_RETURN_IF_ERROR(ctx->GetAttr("Toutput_gradients", &types_.of_results));
    TF_RETURN_IF_ERROR(ctx->GetAttr("Tpushed_gradients", &types_.of_tables));
    TF_RETURN_IF_ERROR(ctx->GetAttr("Tinput_gradients", &types_.of_arguments));
    return ctx->GetAttr("Tprologue_gradients", &types_.of_prologue);
  }

  absl::Status ReadBlocks(tf::OpKernelConstruction* ctx) {
    TF_RETURN_IF_ERROR(
        BatchedSpec::ReadBlocks(ctx, "backward", kManyRows, &block_specs_));
    TF_RETURN_IF_ERROR(
        BatchedSpec::ReadBlocks(ctx, "deferred", kManyRowsOnce, &block_specs_));
    // The functions of blocks that have any, in order.
    int32_t next = 0;
    for (const BlockGradient& gradient : backward_.program.gradients) {
      backward_.backward.push_back(gradient.has_backward ? next++ : -1);
    }
    for (const BlockGradient& gradient : backward_.program.gradients) {
      backward_.deferred.push_back(gradient.has_deferred ? next++ : -1);
    }
    if (static_cast<size_t>(next) != block_specs_.size() ||
        backward_.program.block_names.size() !=
            backward_.program.gradients.size()) {
      return absl::InvalidArgumentError(
          "The functions do not fit the gradient plan.");
    }
    return absl::OkStatus();
  }

  absl::Status ReadDeferred(tf::OpKernelConstruction* ctx) {
    std::vector<int32_t>& counts = types_.deferred_counts;
    TF_RETURN_IF_ERROR(ctx->GetAttr("deferred_counts", &counts));
    TF_RETURN_IF_ERROR(
        ctx->GetAttr("deferred_has_rows", &backward_.deferred_has_rows));
    TF_RETURN_IF_ERROR(
        ctx->GetAttr("Tdeferred_gradients", &backward_.deferred_types));
    TF_RETURN_IF_ERROR(
        ctx->GetAttr("deferred_shapes", &backward_.deferred_shapes));
    TF_RETURN_IF_ERROR(ctx->GetAttr("deferred_like", &backward_.deferred_like));
    size_t next = 0;
    int64_t first = 0;
    for (const int32_t place : backward_.deferred) {
      backward_.first_deferred.push_back(static_cast<int32_t>(first));
      if (place < 0) continue;
      if (next == counts.size() || counts[next] < 0 || first > INT32_MAX) break;
      first += counts[next++];
    }
    if (next != counts.size() ||
        static_cast<size_t>(first) != backward_.deferred_has_rows.size() ||
        static_cast<size_t>(first) != backward_.deferred_types.size() ||
        static_cast<size_t>(first) != backward_.deferred_shapes.size() ||
        static_cast<size_t>(first) != backward_.deferred_like.size() ||
        backward_.first_deferred.size() != backward_.deferred.size()) {
      return absl::InvalidArgumentError(
          "The deferred parts have other outputs.");
    }
    return absl::OkStatus();
  }

  absl::Status TryCompute(tf::OpKernelContext* ctx) {
    const Blocks* blocks = nullptr;
    TF_RETURN_IF_ERROR(GetBlocks(ctx, &blocks));
    const BatchedHandle* handle = nullptr;
    TF_RETURN_IF_ERROR(GetHandle(ctx, 0, &handle));
    const std::shared_ptr<const BatchedRecord> record = handle->record;
    if (record == nullptr || !record->is_kept) {
      return absl::FailedPreconditionError(
          "The forward call kept no values for its gradient.");
    }
    if (record->fingerprint != backward_.program.fingerprint) {
      return Damaged(backward_.program.names.front(),
                     "its gradient is one of another program");
    }
    const BatchedStep step(ctx);
    const TraceSpan span(backward_.program.names.front(), "gradient of call",
                         /*num_rows=*/0);
    BatchedBackward backward(&backward_, blocks, &step, record.get());
    Replay replay(&backward_.program.gradients, &record->tape, &backward);
    TF_RETURN_IF_ERROR(AddGradients(ctx, *record, &replay));
    if (!replay.Run()) return backward.status();
    backward.Finish();
    return SetOutputs(ctx, *record, &backward, &replay);
  }

  absl::Status AddGradients(tf::OpKernelContext* ctx,
                            const BatchedRecord& record, Replay* replay) const {
    tf::OpInputList gradients;
    TF_RETURN_IF_ERROR(ctx->input_list("output_gradients", &gradients));
    for (int i = 0; i < gradients.size(); ++i) {
      TF_RETURN_IF_ERROR(record.returned.CheckGradientOfOutput(
          types_.results[i], gradients[i]));
      tf::Tensor rows = gradients[i];
      if (!mapped()) TF_RETURN_IF_ERROR(AsOneRow(rows, &rows));
      const int32_t num_rows =
          record.tape.results[types_.results[i]].num_rows();
      if (rows.dims() == 0 || rows.dim_size(0) != num_rows ||
          !CanAdd(rows.dtype())) {
        return Damaged(backward_.program.names.front(),
                       "its gradient is one of other rows");
      }
      replay->AddResult(types_.results[i], std::move(rows));
    }
    tf::OpInputList tables;
    TF_RETURN_IF_ERROR(ctx->input_list("pushed_gradients", &tables));
    for (int i = 0; i < tables.size(); ++i) {
      TF_RETURN_IF_ERROR(
          record.returned.CheckGradientOfTable(types_.tables[i], tables[i]));
      replay->AddPushed(types_.tables[i], tables[i]);
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs(tf::OpKernelContext* ctx, const BatchedRecord& record,
                          BatchedBackward* backward, Replay* replay) const {
    tf::OpOutputList list;
    const int32_t first_argument = backward_.program.plan.num_prologue_outputs;
    TF_RETURN_IF_ERROR(ctx->output_list("input_gradients", &list));
    for (int i = 0; i < list.size(); ++i) {
      const int32_t argument = first_argument + types_.arguments[i];
      if (record.values[argument].dtype != list.expected_output_dtype(i)) {
        return Damaged(backward_.program.names.front(),
                       "an argument has a gradient of another type");
      }
      std::optional<tf::Tensor> rows = replay->Take(argument);
      tf::Tensor gradient =
          rows.has_value() ? *std::move(rows) : backward->Zeros(argument);
      if (!mapped()) TF_RETURN_IF_ERROR(OnlyRow(gradient, &gradient));
      list.set(i, gradient);
    }
    std::vector<bool> reached = ReachedBlocks(*replay);
    const size_t num_blocks = reached.size();
    reached.resize(num_blocks + first_argument, false);
    TF_RETURN_IF_ERROR(ctx->output_list("prologue_gradients", &list));
    for (int i = 0; i < list.size(); ++i) {
      const int32_t value = types_.prologue_outputs[i];
      const std::optional<tf::Tensor> row = replay->Take(value);
      reached[num_blocks + value] = row.has_value();
      tf::Tensor gradient;
      if (row.has_value()) {
        TF_RETURN_IF_ERROR(OnlyRow(*row, &gradient));
      } else {
        gradient = ZerosOf(list.expected_output_dtype(i),
                           record.prologue[value].shape());
      }
      list.set(i, gradient);
    }
    TF_RETURN_IF_ERROR(SetReached(ctx, reached));
    TF_RETURN_IF_ERROR(ctx->output_list("deferred_gradients", &list));
    std::vector<tf::Tensor> deferred;
    TF_RETURN_IF_ERROR(backward->TakeDeferred(&deferred));
    for (int i = 0; i < list.size(); ++i) list.set(i, deferred[i]);
    return absl::OkStatus();
  }

  std::vector<bool> ReachedBlocks(const Replay& replay) const {
    std::vector<bool> reached(backward_.program.plan.num_blocks);
    for (int32_t i = 0; i < backward_.program.plan.num_blocks; ++i) {
      reached[i] = replay.IsReached(i);
    }
    return reached;
  }

  static absl::Status SetReached(tf::OpKernelContext* ctx,
                                 const std::vector<bool>& reached) {
    tf::Tensor* output = nullptr;
    TF_RETURN_IF_ERROR(ctx->allocate_output(
        "reached", tf::TensorShape({static_cast<int64_t>(reached.size())}),
        &output));
    std::copy(reached.begin(), reached.end(), output->flat<bool>().data());
    return absl::OkStatus();
  }

  BatchedBackwardSpec backward_;
  // Which results, tables, arguments and outputs of the prologue have a
  // gradient, in the order of the op's inputs and outputs.
  BackwardTypes types_;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveInvokeBatched").Device(tf::DEVICE_CPU),
                        InvokeBatchedOp);
REGISTER_KERNEL_BUILDER(
    Name("RecursiveInvokeBatchedGradient").Device(tf::DEVICE_CPU),
    InvokeBatchedGradientOp);

}  // namespace
}  // namespace recursive_tf
