#include "recursive_tf/cc/tf/batched_backward.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/added_rows.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/compiled_block.h"
#include "recursive_tf/cc/tf/gradient_rows.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/planted_fault.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "recursive_tf/cc/tf/signature.h"
#include "recursive_tf/cc/tf/slices.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

int64_t TotalBytes(const std::vector<tf::Tensor>& tensors) {
  int64_t num_bytes = 0;
  for (const tf::Tensor& tensor : tensors) {
    num_bytes += static_cast<int64_t>(tensor.TotalBytes());
  }
  return num_bytes;
}

}  // namespace

BatchedBackward::BatchedBackward(const BatchedBackwardSpec* spec,
                                 const Blocks* blocks, const BatchedStep* step,
                                 BatchedRecord* record, bool is_last)
    : GradientRows(record, &step->team()),
      spec_(*spec),
      blocks_(*blocks),
      step_(*step),
      record_(*record),
      own_record_(is_last ? record : nullptr),
      invariants_(&record->prologue),
      num_rows_(spec->program.plan.num_blocks, 0),
      deferred_(spec->deferred_has_rows.size()),
      report_(spec->program.plan.num_blocks) {
  for (const TapedLaunch<RowBatch>& launch : record->tape.launches) {
    num_rows_[launch.block] += launch.num_rows;
    if (!TakesAddresses(launch.block)) continue;
    for (const int32_t output :
         spec_.program.gradients[launch.block].cotangents) {
      LetStand(launch.first_value + output);
    }
  }
  if (record->runs->is_watched()) {
    report_.products.resize(spec->program.plan.num_blocks);
  }
}

bool BatchedBackward::TakesAddresses(int32_t block) const {
  const int32_t parts[] = {spec_.backward[block], spec_.deferred[block]};
  return std::all_of(std::begin(parts), std::end(parts), [this](int32_t part) {
    return part < 0 || blocks_[part].TakesAddresses();
  });
}

bool BatchedBackward::RunBackward(const TapedLaunch<RowBatch>& launch,
                                  std::vector<RowBatch> inputs,
                                  std::vector<tf::Tensor>* outputs) {
  return Succeeds(launch.block, CatchExceptions([&] {
                    return TryBackward(launch, std::move(inputs), outputs);
                  }));
}

std::vector<RowBatch> BatchedBackward::TakeKept(size_t launch) {
  if (own_record_ == nullptr) return record_.tape.launches[launch].kept;
  return own_record_->TakeKept(launch);
}

bool BatchedBackward::RunDeferred(int32_t block,
                                  std::vector<std::vector<RowBatch>> inputs) {
  return Succeeds(block, CatchExceptions([&] {
                    return TryDeferred(block, std::move(inputs));
                  }));
}

absl::Status BatchedBackward::TryBackward(const TapedLaunch<RowBatch>& launch,
                                          std::vector<RowBatch> inputs,
                                          std::vector<tf::Tensor>* outputs) {
  const int32_t block = launch.block;
  TF_RETURN_IF_ERROR(step_.CheckCancelled());
  TF_RETURN_IF_ERROR(PlantedFault(Faults::Kind::kCacheGet));
  TF_RETURN_IF_ERROR(PlantedFault(Faults::Kind::kGradient));
  watch_.Lap(&report_.seconds_gather);
  report_.launches[block] += 1;
  report_.rows[block] += launch.num_rows;
  const TraceSpan span(spec_.program.block_names[block], "backward",
                       launch.num_rows);
  const Block& backward = blocks_[spec_.backward[block]];
  CompiledRun program;
  program.num_rows_known = num_rows_[block];
  const BlockGradient& gradient = spec_.program.gradients[block];
  for (const int32_t input : gradient.input_gradients) {
    program.added.push_back(AddedRowsOf(launch.inputs[input], record_));
  }
  TF_RETURN_IF_ERROR(
      backward.Run(step_, std::move(inputs), &invariants_, outputs, &program));
  report_.compiled[block] += program.has_run ? 1 : 0;
  if (!program.has_run) SayWhy(block, backward);
  CountBytes(*outputs);
  program.AddTo(watch_.Lap(&report_.seconds_blocks), block, &report_);
  for (size_t i = 0; i < gradient.input_gradients.size(); ++i) {
    TF_RETURN_IF_ERROR(CheckGradient(launch.inputs[gradient.input_gradients[i]],
                                     (*outputs)[i]));
  }
  return absl::OkStatus();
}

absl::Status BatchedBackward::CheckGradient(const JoinedRows& joined,
                                            const tf::Tensor& gradient) const {
  const Rows& first = joined.front();
  if (first.runs().empty()) return absl::OkStatus();
  const Kind& kind = record_.values[first.runs().front().value];
  int64_t row_size = 0;
  for (const Rows& rows : joined) {
    row_size += RowSize(rows.runs().front().value);
  }
  if (gradient.dtype() == kind.dtype && CanAdd(kind.dtype) &&
      gradient.dims() == kind.shape.dims() &&
      gradient.dim_size(0) == first.num_rows() &&
      gradient.NumElements() == first.num_rows() * row_size) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      first.num_rows(), " rows, the first of them of a ",
      tf::DataTypeString(kind.dtype), " of the shape ",
      kind.shape.DebugString(), ", got a gradient that is a ",
      tf::DataTypeString(gradient.dtype()), " of the shape ",
      gradient.shape().DebugString(),
      ". A gradient needs the dtype and the shape of its value, also that of a "
      "tf.custom_gradient"));
}

absl::Status BatchedBackward::TryDeferred(
    int32_t block, std::vector<std::vector<RowBatch>> inputs) {
  TF_RETURN_IF_ERROR(step_.CheckCancelled());
  TF_RETURN_IF_ERROR(PlantedFault(Faults::Kind::kDeferred));
  watch_.Lap(&report_.seconds_gather);
  std::vector<RowBatch> joined;
  TF_RETURN_IF_ERROR(JoinDeferred(std::move(inputs), &joined));
  const TraceSpan span(spec_.program.block_names[block], "deferred",
                       joined.empty() || joined[0].shape().dims() == 0
                           ? 0
                           : joined[0].shape().dim_size(0));
  std::vector<tf::Tensor> outputs;
  const Block& deferred = blocks_[spec_.deferred[block]];
  CompiledRun program;
  watch_.Lap(&report_.seconds_deferred);
  TF_RETURN_IF_ERROR(
      deferred.Run(step_, std::move(joined), &invariants_, &outputs, &program));
  program.AddTo(watch_.Lap(&report_.seconds_deferred), block, &report_);
  if (!program.has_run) SayWhy(block, deferred);
  CountBytes(outputs);
  TF_RETURN_IF_ERROR(Gather(block, std::move(outputs)));
  watch_.Lap(&report_.seconds_deferred);
  return absl::OkStatus();
}

absl::Status BatchedBackward::Gather(int32_t block,
                                     std::vector<tf::Tensor> given) {
  const size_t first = spec_.first_deferred[block];
  if (first + given.size() > spec_.deferred_places.size()) {
    return absl::InvalidArgumentError("The deferred part has other outputs.");
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const int32_t place = spec_.deferred_places[first + i];
    std::vector<tf::Tensor>& all = deferred_[place];
    if (all.empty() || spec_.deferred_has_rows[place]) {
      bytes_deferred_ += NumBytes(given[i]);
      all.push_back(std::move(given[i]));
    } else {
      TF_RETURN_IF_ERROR(AddTensorsBy(&step_.team(), given[i], &all.front()));
    }
  }
  return absl::OkStatus();
}

void BatchedBackward::SayWhy(int32_t block, const Block& part) {
  std::string& reason = report_.reasons[block];
  if (reason.empty()) reason = part.WhyNotCompiled();
}

void BatchedBackward::CountBytes(const std::vector<tf::Tensor>& given) {
  report_.peak_bytes = std::max(
      report_.peak_bytes, bytes_held_ + bytes_deferred_ + TotalBytes(given));
}

// Lets go of the parts of an input as soon as they are joined.
absl::Status BatchedBackward::JoinDeferred(
    std::vector<std::vector<RowBatch>> inputs, std::vector<RowBatch>* joined) {
  joined->resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<RowBatch> parts = std::move(inputs[i]);
    const bool are_many = parts.size() > 1;
    RowBatch* const rows = &(*joined)[i];
    TF_RETURN_IF_ERROR(JoinBatches(std::move(parts), rows));
    if (are_many) {
      bytes_held_ += NumBytes(*rows);
      if (rows->scattered() == nullptr) report_.bytes_moved += NumBytes(*rows);
    }
  }
  return absl::OkStatus();
}

absl::Status BatchedBackward::TakeDeferred(std::vector<tf::Tensor>* gradients) {
  for (size_t i = 0; i < deferred_.size(); ++i) {
    std::vector<tf::Tensor>& parts = deferred_[i];
    tf::Tensor* const gradient = &gradients->emplace_back();
    if (parts.empty()) {
      TF_RETURN_IF_ERROR(NoGradient(i, gradient));
    } else {
      TF_RETURN_IF_ERROR(JoinRows(parts, gradient));
    }
    parts.clear();
  }
  const auto make = [](tf::DataType dtype, const tf::TensorShape& shape,
                       tf::Tensor* made) {
    *made = NewTensorOrThrow(dtype, shape);
    return absl::OkStatus();
  };
  const auto has_rows = spec_.deferred_has_rows.begin();
  for (size_t i = 0; i + 1 < deferred_.size(); ++i) {
    if (!has_rows[i] || !has_rows[i + 1]) continue;
    TF_RETURN_IF_ERROR(AddUpSlices(make, &step_.team(), &(*gradients)[i],
                                   &(*gradients)[i + 1]));
    ++i;
  }
  return absl::OkStatus();
}

// No slices, or zeros like the value. A late output of the prologue may not be
// there; then nobody reads the gradient. What a file says of shapes takes no
// memory.
absl::Status BatchedBackward::NoGradient(size_t index,
                                         tf::Tensor* gradient) const {
  tf::TensorShape shape;
  const tf::PartialTensorShape& known = spec_.deferred_shapes[index];
  if (spec_.deferred_has_rows[index]) {
    shape.AddDim(0);
    for (int axis = 1; axis < known.dims(); ++axis) {
      TF_RETURN_IF_ERROR(
          shape.AddDimWithStatus(std::max<int64_t>(known.dim_size(axis), 0)));
    }
  } else {
    TF_RETURN_IF_ERROR(ShapeOfInvariant(spec_.deferred_like[index], &shape));
  }
  *gradient = ZerosOf(spec_.deferred_types[index], shape);
  return absl::OkStatus();
}

// Of a variable it is that of what the variable holds.
absl::Status BatchedBackward::ShapeOfInvariant(int32_t output,
                                               tf::TensorShape* shape) const {
  if (static_cast<size_t>(output) >= record_.prologue.size()) {
    return Damaged(spec_.program.names.front(),
                   "a deferred part gives what is not there");
  }
  const tf::Tensor& value = record_.prologue[output];
  *shape = value.shape();
  if (value.dtype() != tf::DT_RESOURCE || value.NumElements() != 1) {
    return absl::OkStatus();
  }
  tf::core::RefCountPtr<tf::Var> variable;
  TF_RETURN_IF_ERROR(tf::LookupResource(
      step_.root(), value.flat<tf::ResourceHandle>()(0), &variable));
  const tf::tf_shared_lock lock(*variable->mu());
  *shape = variable->tensor()->shape();
  return absl::OkStatus();
}

void BatchedBackward::Report() {
  report_.bytes_moved += bytes_moved();
  record_.runs->Post(LastRuns::Pass::kBackward, std::move(report_));
}

bool BatchedBackward::Succeeds(int32_t block, const absl::Status& status) {
  if (status.ok()) return true;
  status_ =
      absl::IsCancelled(status)
          ? status
          : tf::errors::CreateWithUpdatedMessage(
                status, absl::StrCat("SubGraph '", spec_.program.names.front(),
                                     "' failed in the gradient of block '",
                                     spec_.program.block_names[block],
                                     "': ", status.message()));
  return false;
}

}  // namespace recursive_tf
