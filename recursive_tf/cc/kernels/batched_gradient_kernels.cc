// The gradient of a root call in the batched executor: its launches again,
// the last first.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/reverse_replay.h"
#include "recursive_tf/cc/kernels/batched_kernel.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_backward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/bind_batched.h"
#include "recursive_tf/cc/tf/gradient_rows.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "recursive_tf/cc/tf/signature.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class InvokeBatchedGradientOp : public BatchedKernel {
 public:
  explicit InvokeBatchedGradientOp(tf::OpKernelConstruction* ctx)
      : BatchedKernel(ctx) {
    OP_REQUIRES_OK(ctx, BatchedSpec::Read(ctx, &backward_.program));
    OP_REQUIRES_OK(ctx, ReadBlocks(ctx));
    OP_REQUIRES_OK(ctx, ReadDeferred(ctx));
    OP_REQUIRES_OK(ctx, ReadTypes(ctx));
  }

 private:
  using Replay = ReverseReplay<tf::Tensor, BatchedBackward>;

  void ComputeInline(tf::OpKernelContext* ctx) override {
    ctx->SetStatus(CatchExceptions([&] { return TryCompute(ctx); },
                                   backward_.program.names.data()));
  }

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
    TF_RETURN_IF_ERROR(BatchedSpec::ReadBlockKind(ctx, &block_specs_));
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
    SetLabels(backward_.backward, "gradient of ");
    SetLabels(backward_.deferred, "deferred gradient of ");
    return absl::OkStatus();
  }

  void SetLabels(const std::vector<int32_t>& places, const char* what) {
    for (size_t block = 0; block < places.size(); ++block) {
      if (places[block] < 0) continue;
      block_specs_[places[block]].label =
          absl::StrCat(what, backward_.program.block_names[block]);
    }
  }

  absl::Status ReadDeferred(tf::OpKernelConstruction* ctx) {
    std::vector<int32_t>& counts = types_.deferred_counts;
    TF_RETURN_IF_ERROR(ctx->GetAttr("deferred_counts", &counts));
    TF_RETURN_IF_ERROR(
        ctx->GetAttr("deferred_places", &backward_.deferred_places));
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
    std::vector<int32_t>& places = backward_.deferred_places;
    if (places.empty()) {
      places.resize(first);
      std::iota(places.begin(), places.end(), 0);
    }
    if (next != counts.size() || static_cast<size_t>(first) != places.size() ||
        backward_.first_deferred.size() != backward_.deferred.size() ||
        !ArePlaces(places)) {
      return absl::InvalidArgumentError(
          "The deferred parts have other outputs.");
    }
    return absl::OkStatus();
  }

  bool ArePlaces(const std::vector<int32_t>& places) const {
    const size_t size = backward_.deferred_types.size();
    return backward_.deferred_has_rows.size() == size &&
           backward_.deferred_shapes.size() == size &&
           backward_.deferred_like.size() == size &&
           std::all_of(places.begin(), places.end(), [size](int32_t place) {
             return place >= 0 && static_cast<size_t>(place) < size;
           });
  }

  absl::Status TryCompute(tf::OpKernelContext* ctx) {
    const Blocks* blocks = nullptr;
    TF_RETURN_IF_ERROR(GetBlocks(ctx, &blocks));
    const BatchedHandle* handle = nullptr;
    TF_RETURN_IF_ERROR(GetHandle(ctx, 0, &handle));
    const std::shared_ptr<BatchedRecord> record = handle->record;
    if (record == nullptr || !record->is_kept) {
      return absl::FailedPreconditionError(
          "The forward call kept no values for its gradient.");
    }
    if (record->fingerprint != backward_.program.fingerprint) {
      return Damaged(backward_.program.names.front(),
                     "its gradient is one of another program");
    }
    TF_RETURN_IF_ERROR(CheckPrologue(*record));
    const BatchedStep step(ctx);
    const TraceSpan span(backward_.program.names.front(), "gradient of call",
                         /*num_rows=*/0);
    BatchedBackward backward(&backward_, blocks, &step, record.get(),
                             IsLast(ctx, record));
    Replay replay(&backward_.program.gradients, &record->tape, &backward);
    TF_RETURN_IF_ERROR(AddGradients(ctx, *record, &replay));
    if (!replay.Run()) return backward.status();
    backward.Report();
    return SetOutputs(ctx, *record, &backward, &replay);
  }

  // Says whether this op alone can reach a record, which it holds twice: then
  // no other gradient of the call will be computed. TensorFlow's executor hands
  // a value over to the last op that takes it.
  static bool IsLast(tf::OpKernelContext* ctx,
                     const std::shared_ptr<BatchedRecord>& record) {
    return ctx->input(0).RefCountIsOne() && record.use_count() == 2;
  }

  // What the op itself cannot say: how much the forward call computed first.
  absl::Status CheckPrologue(const BatchedRecord& record) const {
    for (const BlockSpec& part : block_specs_) {
      for (const int32_t output : part.invariants) {
        if (static_cast<size_t>(output) >= record.prologue.size()) {
          return Damaged(
              backward_.program.names.front(),
              "its gradient takes an output of the prologue that is not there");
        }
      }
    }
    return absl::OkStatus();
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
      const std::optional<RowBatch> rows = replay->Take(argument);
      tf::Tensor gradient =
          rows.has_value() ? rows->AsTensor() : backward->Zeros(argument);
      if (!mapped()) TF_RETURN_IF_ERROR(OnlyRow(gradient, &gradient));
      list.set(i, gradient);
    }
    std::vector<bool> reached = ReachedBlocks(*replay);
    const size_t num_blocks = reached.size();
    reached.resize(num_blocks + first_argument, false);
    TF_RETURN_IF_ERROR(ctx->output_list("prologue_gradients", &list));
    for (int i = 0; i < list.size(); ++i) {
      const int32_t value = types_.prologue_outputs[i];
      const std::optional<RowBatch> row = replay->Take(value);
      reached[num_blocks + value] = row.has_value();
      tf::Tensor gradient;
      if (row.has_value()) {
        TF_RETURN_IF_ERROR(OnlyRow(row->AsTensor(), &gradient));
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

REGISTER_KERNEL_BUILDER(
    Name("RecursiveInvokeBatchedGradient").Device(tf::DEVICE_CPU),
    InvokeBatchedGradientOp);

}  // namespace
}  // namespace recursive_tf
