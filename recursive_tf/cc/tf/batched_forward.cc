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
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/make_steps.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/recording.h"
#include "recursive_tf/cc/batching/report_board.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/failed_row.h"
#include "recursive_tf/cc/tf/limit_error.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/planted_fault.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;
namespace {

std::optional<LaunchRecorder> RecorderOf(const BatchedForwardSpec& spec) {
  if (!Recording::Global().is_recording()) return std::nullopt;
  return std::make_optional<LaunchRecorder>(spec.order.ranks());
}

}  // namespace

BatchedForward::BatchedForward(const BatchedForwardSpec* spec,
                               const Blocks* blocks, const BatchedStep* step,
                               std::vector<std::unique_ptr<PushTable>>* pushes)
    : spec_(*spec),
      blocks_(*blocks),
      step_(*step),
      record_(std::make_shared<BatchedRecord>()),
      tape_(&spec->program.gradients, record_.get()),
      pushes_(pushes, spec->keep ? &record_->tape.pushed : nullptr),
      host_(&values_, &pushes_, step),
      recorder_(RecorderOf(*spec)),
      steps_(MakeSteps(&spec->program.plan, spec->flow, &spec->order,
                       spec->policy.get(), &host_, spec->limits,
                       recorder_.has_value() ? &*recorder_ : nullptr)),
      errors_(&spec->program, steps_.get(), spec->mapped),
      invariants_(&record_->prologue, /*for_once=*/spec->keep),
      has_run_(spec->late.outputs.size(), false),
      bytes_per_row_(spec->program.plan.num_blocks),
      report_(spec->program.plan.num_blocks) {
  record_->runs = spec->runs;
  record_->fingerprint = spec->program.fingerprint;
  record_->is_kept = spec->keep;
  record_->tape.pushed.resize(pushes->size());
  if (spec->runs->is_watched()) {
    bound_.emplace(spec->program.plan.num_blocks);
    report_.products.resize(spec->program.plan.num_blocks);
  }
  if (recorder_.has_value()) reads_.emplace();
}

absl::Status BatchedForward::Run(const std::vector<tf::Tensor>& arguments,
                                 int32_t num_rows,
                                 std::vector<tf::Tensor> captures) {
  TF_RETURN_IF_ERROR(RunPrologue(std::move(captures), num_rows));
  step_.team().Wake(blocks_.team_size());
  for (const tf::Tensor& argument : arguments) {
    AddValue(argument);
  }
  if (bound_.has_value()) {
    bound_->AddValues(spec_.program.plan.num_prologue_outputs, 1);
    bound_->AddValues(static_cast<int32_t>(arguments.size()), num_rows);
  }
  if (reads_.has_value()) reads_->AddValues(values_.size());
  TF_RETURN_IF_ERROR(AddTables(num_rows));
  steps_->Start(num_rows);
  TF_RETURN_IF_ERROR(CatchUp());
  TF_RETURN_IF_ERROR(RunAll());
  blocks_.set_team_size(step_.team().num_wanted());
  record_->tape.results = steps_->Results();
  watch_.Lap(&report_.seconds_schedule);
  return absl::OkStatus();
}

absl::Status BatchedForward::RunLate(const std::vector<int32_t>& parts) {
  for (const int32_t part : parts) {
    if (has_run_[part]) continue;
    has_run_[part] = true;
    std::vector<tf::Tensor> given;
    const Block& function =
        blocks_[spec_.program.plan.num_blocks + 1 + static_cast<size_t>(part)];
    CompiledRun never;
    TF_RETURN_IF_ERROR(
        function.Run(step_, /*rows=*/{}, &invariants_, &given, &never));
    const std::vector<int32_t>& outputs = spec_.late.outputs[part];
    for (size_t i = 0; i < outputs.size(); ++i) {
      record_->prologue[outputs[i]] = std::move(given[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status BatchedForward::RunAll() {
  Launch launch;
  while (steps_->Next(&launch)) {
    watch_.Lap(&report_.seconds_schedule);
    TF_RETURN_IF_ERROR(step_.CheckCancelled());
    has_gone_on_ = false;
    const absl::Status status =
        CatchExceptions([&] { return RunWithinLimits(&launch); });
    if (!status.ok()) {
      return has_gone_on_ ? errors_.FailedBlock(launch.block, status)
                          : errors_.FailedLaunch(launch, failed_row_, status);
    }
    if (!has_gone_on_) steps_->Complete(launch);
    TF_RETURN_IF_ERROR(CatchUp());
  }
  if (steps_->is_cancelled()) return step_.CheckCancelled();
  return errors_.Refusal(spec_.limits, host_.push_status());
}

absl::Status BatchedForward::RunWithinLimits(Launch* launch) {
  const auto num_rows = static_cast<double>(launch->num_activations());
  double& bytes_per_row = bytes_per_row_[launch->block];
  const int64_t held = num_bytes() + steps_->num_bytes();
  const auto more = static_cast<int64_t>(bytes_per_row * num_rows);
  if (spec_.limits.IsTooLarge(held + more)) {
    return LimitError(ActivationTree::Verdict::kTooLarge, spec_.limits);
  }
  const int64_t before = num_bytes();
  steps_->set_num_bytes(before + more);
  TF_RETURN_IF_ERROR(RunLaunch(launch));
  bytes_per_row = static_cast<double>(num_bytes() - before) / num_rows;
  steps_->set_num_bytes(num_bytes());
  return absl::OkStatus();
}

void BatchedForward::GoOn(const Launch& launch) {
  seconds_before_going_on_ = watch_.Lap(&report_.seconds_blocks);
  has_gone_on_ = true;
  steps_->Complete(launch);
  watch_.Lap(&report_.seconds_schedule);
}

absl::Status BatchedForward::RunLaunch(Launch* launch) {
  report_.launches[launch->block] += 1;
  report_.rows[launch->block] +=
      static_cast<int64_t>(launch->activations.size());
  TF_RETURN_IF_ERROR(PlantedFault(Faults::Kind::kLaunch));
  TF_RETURN_IF_ERROR(RunLate(spec_.late.of_block[launch->block]));
  std::vector<RowBatch> inputs(launch->inputs.size());
  TF_RETURN_IF_ERROR(CollectInputs(*launch, &inputs));
  ShareRows(launch, &inputs);
  watch_.Lap(&report_.seconds_gather);
  const int32_t num_values = steps_->num_values() - launch->first_value;
  if (bound_.has_value()) {
    AddTo(&*bound_, *launch, num_values);
    watch_.Skip();
  }
  const TraceSpan span(spec_.program.block_names[launch->block], "forward",
                       launch->num_rows());
  Computed computed;
  const absl::Status status = RunBlock(*launch, std::move(inputs), &computed);
  if (!status.ok()) return has_gone_on_ ? status : FindFailure(*launch, status);
  computed.program.AddTo(std::exchange(seconds_before_going_on_, 0) +
                             watch_.Lap(&report_.seconds_blocks),
                         launch->block, &report_);
  TF_RETURN_IF_ERROR(CheckRows(*launch, computed.outputs));
  if (reads_.has_value()) {
    reads_->Add(
        *launch, computed.program.has_run, num_values,
        [this](int32_t value) { return values_.view(value).num_bytes; });
    watch_.Skip();
  }
  if (IsTaped(launch->block)) {
    TF_RETURN_IF_ERROR(PlantedFault(Faults::Kind::kCachePut));
    tape_.AddLaunch(launch, computed.inputs, computed.outputs);
  }
  for (int32_t i = 0; i < num_values; ++i) {
    AddValue(std::move(computed.outputs[i]), launch->is_shared());
  }
  TF_RETURN_IF_ERROR(CheckItems(*launch));
  report_.peak_bytes = std::max(report_.peak_bytes, num_bytes());
  return absl::OkStatus();
}

absl::Status BatchedForward::RunBlock(const Launch& launch,
                                      std::vector<RowBatch> inputs,
                                      Computed* computed) {
  // What may be kept must not be written to: then the block gets a copy of the
  // references.
  computed->inputs = IsTaped(launch.block) ? inputs : std::vector<RowBatch>();
  computed->program = CompiledRun();
  computed->program.num_rows_guessed = blocks_[launch.block].num_rows_last();
  // On many threads this would be most of the time.
  if (!spec_.looked_at[launch.block]) {
    computed->program.meanwhile = [this, &launch] { GoOn(launch); };
  }
  TF_RETURN_IF_ERROR(blocks_[launch.block].Run(step_, std::move(inputs),
                                               &invariants_, &computed->outputs,
                                               &computed->program));
  report_.compiled[launch.block] += computed->program.has_run ? 1 : 0;
  return absl::OkStatus();
}

absl::Status BatchedForward::FindFailure(const Launch& launch,
                                         absl::Status status) {
  // Of those that were to share rows, it is the first one's.
  const std::optional<int64_t> row = TakeFailedRow(&status);
  if (row.has_value()) {
    return WithFailedRow(
        status, launch.is_shared() ? launch.shared.firsts()[*row] : *row);
  }
  const Block& block = blocks_[launch.block];
  const bool may_run_again = !block.may_print() && launch.list_inputs.empty();
  if (!may_run_again || launch.inputs.empty()) return status;
  std::vector<tf::Tensor> inputs(launch.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!values_.Gather(launch.inputs[i], &inputs[i]).ok()) return status;
  }
  const auto run = [&](int64_t begin, int64_t end) {
    std::vector<RowBatch> some;
    for (const tf::Tensor& input : inputs) {
      tf::Tensor rows = AllocateRows(input, end - begin);
      CopyRows(RowView(input), begin, end - begin, RowView(rows), 0);
      some.emplace_back(std::move(rows));
    }
    Computed computed;
    return block.Run(step_, std::move(some), &invariants_, &computed.outputs,
                     &computed.program);
  };
  failed_row_ = FindFailedRow(launch.num_activations(), run, &status);
  return status;
}

void BatchedForward::AddTo(LaunchBound* bound, const Launch& launch,
                           int32_t num_values) const {
  std::vector<ValueRow> decided_by;
  decided_by.reserve(launch.activations.size());
  for (const int32_t id : launch.activations) {
    decided_by.push_back(steps_->DecidedBy(id));
  }
  bound->Add(launch, decided_by, num_values);
}

absl::Status BatchedForward::CollectInputs(const Launch& launch,
                                           std::vector<RowBatch>* inputs) {
  const bool by_address = blocks_[launch.block].TakesAddresses();
  for (const ListInput& list : launch.list_inputs) {
    if (launch.inputs[list.input].front().num_rows() > 0) continue;
    (*inputs)[list.input] = record_->prologue[list.no_items];
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    if (launch.inputs[i].front().num_rows() == 0) continue;
    const JoinedRows& rows = launch.inputs[i];
    if (by_address) {
      TF_RETURN_IF_ERROR(
          values_.Collect(rows, IsTaped(launch.block), &(*inputs)[i]));
      continue;
    }
    tf::Tensor gathered;
    TF_RETURN_IF_ERROR(values_.Gather(rows, &gathered));
    (*inputs)[i] = RowBatch(std::move(gathered));
  }
  return absl::OkStatus();
}

void BatchedForward::ShareRows(Launch* launch, std::vector<RowBatch>* inputs) {
  if (!blocks_[launch->block].SharesRows()) return;
  if (!launch->list_inputs.empty() || !launch->list_outputs.empty()) return;
  std::vector<int32_t> kept;
  if (spec_.keep) {
    kept = spec_.program.gradients[launch->block].kept;
    const auto is_output = [inputs](int32_t index) {
      return static_cast<size_t>(index) >= inputs->size();
    };
    kept.erase(std::remove_if(kept.begin(), kept.end(), is_output), kept.end());
  }
  std::optional<EqualRows> equal =
      blocks_[launch->block].FindEqualRows(step_, *inputs, kept, &invariants_);
  if (!equal.has_value() || equal->num_groups() == launch->num_rows()) return;
  for (RowBatch& each : *inputs) each = TakeRows(each, equal->firsts());
  launch->shared = *std::move(equal);
  report_.shared[launch->block] +=
      launch->num_activations() - launch->num_rows();
}

absl::Status BatchedForward::CheckItems(const Launch& launch) {
  for (const ListOutput& list : launch.list_outputs) {
    std::vector<int32_t> counts;
    int64_t total = 0;
    for (const ValueRow row : list.counts) {
      counts.push_back(host_.ReadCount(row));
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
  const size_t num_values = steps_->num_values() - launch.first_value;
  for (size_t i = 0; i < num_values; ++i) {
    if (i < outputs.size() && outputs[i].dims() > 0 &&
        (outputs[i].dim_size(0) == launch.num_rows() ||
         launch.IsListOutput(static_cast<int32_t>(i)))) {
      continue;
    }
    return absl::InternalError(absl::StrCat("output ", i,
                                            " does not have a row for each of ",
                                            launch.num_rows(), " rows"));
  }
  return absl::OkStatus();
}

void BatchedForward::AddValue(tf::Tensor rows, bool are_shared) {
  if (spec_.keep) tape_.AddValue(rows, are_shared);
  values_.Add(std::move(rows), are_shared);
}

absl::Status BatchedForward::CatchUp() {
  watch_.Lap(&report_.seconds_schedule);
  TF_RETURN_IF_ERROR(host_.misread());
  TF_RETURN_IF_ERROR(OfSubGraph(pushes_.Flush(values_, &step_.team()),
                                spec_.program.names.front()));
  watch_.Lap(&report_.seconds_gather);
  for (const int32_t value : steps_->TakeDeadValues()) values_.Drop(value);
  return absl::OkStatus();
}

absl::Status BatchedForward::Results(std::vector<tf::Tensor>* results) {
  for (const Rows& rows : record_->tape.results) {
    TF_RETURN_IF_ERROR(values_.Gather(rows, &results->emplace_back()));
  }
  watch_.Lap(&report_.seconds_gather);
  return absl::OkStatus();
}

std::shared_ptr<BatchedRecord> BatchedForward::Finish(Returned returned) {
  record_->returned = std::move(returned);
  report_.bytes_moved += values_.bytes_moved();
  for (size_t i = 0; i < report_.rows.size(); ++i) {
    report_.rows[i] += steps_->NumLookedUp(static_cast<int32_t>(i));
    blocks_[i].set_num_rows_last(report_.rows[i]);
  }
  if (bound_.has_value()) {
    report_.least_launches = bound_->Get();
    for (size_t i = 0; i < report_.launches.size(); ++i) {
      if (report_.compiled[i] == report_.launches[i]) continue;
      report_.reasons[i] = blocks_[i].WhyNotCompiled();
    }
  }
  spec_.runs->Post(LastRuns::Pass::kForward, std::move(report_));
  if (recorder_.has_value()) {
    Recording::Global().Add({spec_.program.names.front(), spec_.block_places,
                             recorder_->TakeGraph(), reads_->TakeLaunches()});
  }
  return record_;
}

}  // namespace recursive_tf
