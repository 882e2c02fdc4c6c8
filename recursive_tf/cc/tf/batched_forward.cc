#include "recursive_tf/cc/tf/batched_forward.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/cycle_error.h"
#include "recursive_tf/cc/tf/failed_row.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

BatchedForward::BatchedForward(const BatchedForwardSpec* spec,
                               const Blocks* blocks, const BatchedStep* step,
                               std::vector<std::unique_ptr<PushTable>>* pushes)
    : spec_(*spec),
      blocks_(*blocks),
      step_(*step),
      pushes_(*pushes),
      policy_(MakePolicy(spec->policy)),
      steps_(&spec->program.plan, &spec->order, policy_.get(), this,
             spec->limits),
      record_(std::make_shared<BatchedRecord>()),
      invariants_(&record_->prologue),
      has_run_(spec->late.outputs.size(), false),
      bytes_per_row_(spec->program.plan.num_blocks),
      report_(spec->program.plan.num_blocks) {
  record_->program = spec->key;
  record_->fingerprint = spec->program.fingerprint;
  record_->is_kept = spec->keep;
  pushed_.resize(pushes->size());
  record_->tape.pushed.resize(pushes->size());
  if (ReportBoard::Global().IsWatched(spec->key)) {
    bound_.emplace(spec->program.plan.num_blocks);
  }
}

absl::Status BatchedForward::Run(const std::vector<tf::Tensor>& arguments,
                                 int32_t num_rows,
                                 std::vector<tf::Tensor> captures) {
  TF_RETURN_IF_ERROR(RunPrologue(std::move(captures), num_rows));
  for (const tf::Tensor& argument : arguments) {
    AddValue(argument);
  }
  if (bound_.has_value()) {
    bound_->AddValues(spec_.program.plan.num_prologue_outputs, 1);
    bound_->AddValues(static_cast<int32_t>(arguments.size()), num_rows);
  }
  steps_.Start(num_rows);
  TF_RETURN_IF_ERROR(Settle());
  TF_RETURN_IF_ERROR(RunAll());
  record_->tape.results = steps_.Results();
  watch_.Lap(&report_.seconds_schedule);
  return absl::OkStatus();
}

absl::Status BatchedForward::RunPrologue(std::vector<tf::Tensor> captures,
                                         int32_t num_rows) {
  const Block& prologue = blocks_[spec_.program.plan.num_blocks];
  TF_RETURN_IF_ERROR(prologue.Run(step_.args(), std::move(captures),
                                  &invariants_, &record_->prologue));
  spec_.late.MakeRoom(&record_->prologue);
  if (num_rows > 0) {
    const absl::Status status = RunLate(spec_.late.at_start);
    if (!status.ok()) return FailedAt(0, spec_.program.names.front(), status);
  }
  for (int32_t i = 0; i < spec_.program.plan.num_prologue_outputs; ++i) {
    tf::Tensor row;
    TF_RETURN_IF_ERROR(AsOneRow(record_->prologue[i], &row));
    AddValue(std::move(row));
  }
  watch_.Lap(&report_.seconds_blocks);
  return absl::OkStatus();
}

absl::Status BatchedForward::RunLate(const std::vector<int32_t>& parts) {
  for (const int32_t part : parts) {
    if (has_run_[part]) continue;
    has_run_[part] = true;
    std::vector<tf::Tensor> given;
    const Block& function =
        blocks_[spec_.program.plan.num_blocks + 1 + static_cast<size_t>(part)];
    TF_RETURN_IF_ERROR(
        function.Run(step_.args(), /*rows=*/{}, &invariants_, &given));
    const std::vector<int32_t>& outputs = spec_.late.outputs[part];
    for (size_t i = 0; i < outputs.size(); ++i) {
      record_->prologue[outputs[i]] = std::move(given[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status BatchedForward::RunAll() {
  Launch launch;
  while (steps_.Next(&launch)) {
    watch_.Lap(&report_.seconds_schedule);
    TF_RETURN_IF_ERROR(step_.CheckCancelled());
    const absl::Status status = RunWithinLimits(&launch);
    if (!status.ok()) return FailedLaunch(launch, status);
    steps_.Complete(launch);
    TF_RETURN_IF_ERROR(Settle());
  }
  return Refusal();
}

absl::Status BatchedForward::RunWithinLimits(Launch* launch) {
  const auto num_rows = static_cast<double>(launch->num_rows());
  double& bytes_per_row = bytes_per_row_[launch->block];
  const int64_t held = num_bytes() + steps_.activations().num_bytes();
  const auto more = static_cast<int64_t>(bytes_per_row * num_rows);
  if (spec_.limits.IsTooLarge(held + more)) {
    return LimitError(ActivationTree::Verdict::kTooLarge, spec_.limits);
  }
  const int64_t before = num_bytes();
  TF_RETURN_IF_ERROR(RunLaunch(launch));
  bytes_per_row = static_cast<double>(num_bytes() - before) / num_rows;
  steps_.set_num_bytes(num_bytes());
  return absl::OkStatus();
}

absl::Status BatchedForward::RunLaunch(Launch* launch) {
  report_.launches[launch->block] += 1;
  report_.rows[launch->block] +=
      static_cast<int64_t>(launch->activations.size());
  TF_RETURN_IF_ERROR(RunLate(spec_.late.of_block[launch->block]));
  std::vector<tf::Tensor> inputs(launch->inputs.size());
  TF_RETURN_IF_ERROR(GatherInputs(*launch, &inputs));
  watch_.Lap(&report_.seconds_gather);
  const int32_t num_values = steps_.num_values() - launch->first_value;
  if (bound_.has_value()) AddTo(&*bound_, *launch, num_values);
  const TraceSpan span(spec_.program.block_names[launch->block], "forward",
                       launch->num_rows());
  std::vector<tf::Tensor> outputs;
  // What may be kept must not be written to: then the block gets a copy of the
  // references.
  std::vector<tf::Tensor> kept_inputs;
  if (spec_.keep) kept_inputs = inputs;
  TF_RETURN_IF_ERROR(blocks_[launch->block].Run(step_.args(), std::move(inputs),
                                                &invariants_, &outputs));
  watch_.Lap(&report_.seconds_blocks);
  TF_RETURN_IF_ERROR(CheckRows(*launch, outputs));
  if (spec_.keep) Keep(launch, kept_inputs, outputs);
  for (int32_t i = 0; i < num_values; ++i) {
    AddValue(std::move(outputs[i]));
  }
  TF_RETURN_IF_ERROR(CheckItems(*launch));
  report_.peak_bytes =
      std::max(report_.peak_bytes, values_.bytes_alive() + bytes_kept_);
  return absl::OkStatus();
}

void BatchedForward::AddTo(LaunchBound* bound, const Launch& launch,
                           int32_t num_values) const {
  std::vector<ValueRow> decided_by;
  decided_by.reserve(launch.activations.size());
  for (const int32_t id : launch.activations) {
    decided_by.push_back(steps_.DecidedBy(id));
  }
  bound->Add(launch, decided_by, num_values);
}

absl::Status BatchedForward::GatherInputs(const Launch& launch,
                                          std::vector<tf::Tensor>* inputs) {
  for (const ListInput& list : launch.list_inputs) {
    if (launch.inputs[list.input].front().num_rows() > 0) continue;
    (*inputs)[list.input] = record_->prologue[list.no_items];
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (launch.inputs[i].front().num_rows() == 0) continue;
    TF_RETURN_IF_ERROR(values_.Gather(launch.inputs[i], &(*inputs)[i]));
  }
  return absl::OkStatus();
}

absl::Status BatchedForward::CheckItems(const Launch& launch) {
  for (const ListOutput& list : launch.list_outputs) {
    std::vector<int32_t> counts;
    int64_t total = 0;
    for (const ValueRow row : list.counts) {
      counts.push_back(ReadCount(row));
      total += counts.back();
    }
    const int32_t value = launch.first_value + list.output;
    if (values_[value].dim_size(0) != total) {
      return absl::InternalError(absl::StrCat(
          "output ", list.output, " has ", values_[value].dim_size(0),
          " items where ", total, " are counted"));
    }
    if (bound_.has_value()) bound_->Spread(value, counts);
  }
  return absl::OkStatus();
}

absl::Status BatchedForward::CheckRows(
    const Launch& launch, const std::vector<tf::Tensor>& outputs) const {
  const size_t num_values = steps_.num_values() - launch.first_value;
  for (size_t i = 0; i < num_values; ++i) {
    if (i < outputs.size() && outputs[i].dims() > 0 &&
        (outputs[i].dim_size(0) == launch.num_rows() ||
         launch.IsListOutput(static_cast<int32_t>(i)))) {
      continue;
    }
    return absl::InternalError(absl::StrCat("output ", i,
                                            " does not have a row for each of ",
                                            launch.num_rows(), " activations"));
  }
  return absl::OkStatus();
}

void BatchedForward::Keep(Launch* launch, const std::vector<tf::Tensor>& inputs,
                          const std::vector<tf::Tensor>& outputs) {
  TapedLaunch<tf::Tensor> taped;
  taped.block = launch->block;
  taped.first_value = launch->first_value;
  taped.num_rows = launch->num_rows();
  for (const int32_t index : spec_.program.gradients[launch->block].kept) {
    const auto i = static_cast<size_t>(index);
    taped.kept.push_back(i < inputs.size() ? inputs[i]
                                           : outputs[i - inputs.size()]);
    bytes_kept_ += static_cast<int64_t>(taped.kept.back().TotalBytes());
  }
  taped.inputs = std::move(launch->inputs);
  record_->tape.launches.push_back(std::move(taped));
}

void BatchedForward::AddValue(tf::Tensor rows) {
  if (spec_.keep) {
    record_->values.push_back({rows.dtype(), rows.shape()});
    record_->tape.num_rows.push_back(NumRows(rows));
  }
  values_.Add(std::move(rows));
}

absl::Status BatchedForward::Settle() {
  watch_.Lap(&report_.seconds_schedule);
  TF_RETURN_IF_ERROR(misread_);
  TF_RETURN_IF_ERROR(FlushPushes());
  watch_.Lap(&report_.seconds_gather);
  for (const int32_t value : steps_.TakeDeadValues()) values_.Drop(value);
  return absl::OkStatus();
}

absl::Status BatchedForward::Results(std::vector<tf::Tensor>* results) {
  for (const Rows& rows : record_->tape.results) {
    TF_RETURN_IF_ERROR(values_.Gather(rows, &results->emplace_back()));
  }
  watch_.Lap(&report_.seconds_gather);
  return absl::OkStatus();
}

std::shared_ptr<const BatchedRecord> BatchedForward::Finish(Returned returned) {
  record_->returned = std::move(returned);
  if (bound_.has_value()) {
    report_.least_launches = bound_->Get();
    report_.bytes_moved = values_.bytes_moved();
    ReportBoard::Global().Post(spec_.key, ReportBoard::Pass::kForward, report_);
  }
  return record_;
}

int32_t BatchedForward::ReadSelector(ValueRow row) {
  const RowView& value = values_.view(row.value);
  if (value.dtype == tf::DT_BOOL && value.rank == 0) {
    return static_cast<const bool*>(value.data)[row.row] ? 1 : 0;
  }
  if (value.dtype == tf::DT_INT32 && value.rank == 0) {
    return static_cast<const int32_t*>(value.data)[row.row];
  }
  misread_.Update(Misread("the condition of a branch", row.value));
  return 0;
}

int64_t BatchedForward::ReadKey(ValueRow row) {
  const RowView& value = values_.view(row.value);
  if (value.dtype == tf::DT_INT32 && value.rank == 0) {
    return static_cast<const int32_t*>(value.data)[row.row];
  }
  if (value.dtype == tf::DT_INT64 && value.rank == 0) {
    return static_cast<const int64_t*>(value.data)[row.row];
  }
  misread_.Update(Misread("memo=", row.value));
  return 0;
}

int32_t BatchedForward::ReadCount(ValueRow row) {
  const RowView& value = values_.view(row.value);
  if (value.dtype != tf::DT_INT32 || value.num_elements == 0) {
    misread_.Update(Misread("a number of items", row.value));
    return 0;
  }
  const auto* counts = static_cast<const int32_t*>(value.data);
  return std::max(counts[row.row * value.num_elements], 0);
}

// Takes the row, so that an error is this activation's. Rows are copied many at
// once, in FlushPushes.
bool BatchedForward::Push(int32_t table, ValueRow index, ValueRow value) {
  int64_t row = 0;
  push_status_ = ReadIndex(index, &row);
  if (push_status_.ok()) push_status_ = pushes_[table]->Claim(row);
  if (!push_status_.ok()) return false;
  pushed_[table].indices.push_back(row);
  pushed_[table].values.Add(value);
  return true;
}

bool BatchedForward::IsCancelled() { return !step_.CheckCancelled().ok(); }

absl::Status BatchedForward::FlushPushes() {
  for (size_t table = 0; table < pushed_.size(); ++table) {
    PushedRows& pushed = pushed_[table];
    const int64_t* indices = pushed.indices.data();
    for (const RowRun& run : pushed.values.runs()) {
      TF_RETURN_IF_ERROR(
          pushes_[table]->CopyToClaimed(values_[run.value], run, indices));
      indices += run.num_rows;
    }
    if (spec_.keep) {
      PushedRows& taped = record_->tape.pushed[table];
      taped.indices.insert(taped.indices.end(), pushed.indices.begin(),
                           pushed.indices.end());
      taped.values.Add(pushed.values);
    }
    // The next launch pushes as much again.
    pushed.indices.clear();
    pushed.values.Clear();
  }
  return absl::OkStatus();
}

absl::Status BatchedForward::ReadIndex(ValueRow row, int64_t* index) const {
  const RowView& value = values_.view(row.value);
  if (value.rank != 0 || value.dtype != tf::DT_INT64) {
    return Misread("index= of a push", row.value);
  }
  *index = static_cast<const int64_t*>(value.data)[row.row];
  return absl::OkStatus();
}

absl::Status BatchedForward::Misread(const char* what, int32_t value) const {
  tf::TensorShape shape = values_[value].shape();
  if (shape.dims() > 0) shape.RemoveDim(0);
  return absl::InvalidArgumentError(absl::StrCat(
      what, " must be a scalar number; got the shape ", shape.DebugString(),
      " and the dtype ", tf::DataTypeString(values_.view(value).dtype), "."));
}

absl::Status BatchedForward::FailedAt(int32_t subgraph,
                                      const std::string& where,
                                      const absl::Status& status) const {
  return tf::errors::CreateWithUpdatedMessage(
      status, absl::StrCat("SubGraph '", spec_.program.names[subgraph],
                           "' failed at ", where, ": ", status.message()));
}

absl::Status BatchedForward::FailedLaunch(const Launch& launch,
                                          absl::Status status) const {
  if (absl::IsCancelled(status)) return status;
  const std::optional<int64_t> row = TakeFailedRow(&status);
  if (row.has_value() &&
      *row < static_cast<int64_t>(launch.activations.size())) {
    const int32_t id = launch.activations[*row];
    return FailedAt(steps_.SubGraphOf(id),
                    steps_.PathOf(id, spec_.mapped, spec_.program.names),
                    status);
  }
  constexpr size_t kShown = 3;
  std::string paths;
  for (size_t i = 0; i < launch.activations.size() && i < kShown; ++i) {
    absl::StrAppend(&paths, i == 0 ? "" : ", ",
                    steps_.PathOf(launch.activations[i], spec_.mapped,
                                  spec_.program.names));
  }
  if (launch.activations.size() > kShown) {
    absl::StrAppend(&paths, ", … (", launch.activations.size(),
                    " invocations at once)");
  }
  return FailedAt(steps_.SubGraphOf(launch.activations.front()),
                  absl::StrCat(paths, " in block '",
                               spec_.program.block_names[launch.block], "'"),
                  status);
}

absl::Status BatchedForward::Refusal() const {
  if (steps_.is_cancelled()) return step_.CheckCancelled();
  const std::vector<std::string>& names = spec_.program.names;
  if (steps_.refused_push().has_value()) {
    const int32_t id = *steps_.refused_push();
    return FailedAt(steps_.SubGraphOf(id),
                    steps_.PathOf(id, spec_.mapped, names), push_status_);
  }
  if (const auto& refused = steps_.refused_call(); refused.has_value()) {
    return FailedAt(refused->procedure,
                    steps_.PathOf(*refused, spec_.mapped, names),
                    LimitError(refused->verdict, spec_.limits));
  }
  if (const auto wait = steps_.FindCycle(); wait.has_value()) {
    return FailedAt(steps_.SubGraphOf(wait->waiter),
                    steps_.PathOf(wait->waiter, spec_.mapped, names),
                    CycleError(wait->key));
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
