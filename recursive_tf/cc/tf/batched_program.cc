#include "recursive_tf/cc/tf/batched_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/batching/gradient_plan_decoder.h"
#include "recursive_tf/cc/batching/plan_decoder.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/compiled_block.h"
#include "recursive_tf/cc/tf/function_on_demand.h"
#include "recursive_tf/cc/tf/inline_function.h"
#include "recursive_tf/cc/tf/invariants.h"
#include "recursive_tf/cc/tf/looked_up.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "recursive_tf/cc/tf/read_lists.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Of a block's rows that compute the same: what `sharing` says of it, at least.
constexpr int32_t kMaySharing = 1;
constexpr int32_t kPaysSharing = 2;

// Returns whether an op prints, or may run one that does. No other effect is in
// a block: it would be one of each activation.
bool MayPrint(const tf::Node* node) {
  static const auto* const types = new std::set<std::string>{
      "Case", "If", "PrintV2", "StatefulPartitionedCall", "While"};
  return types->count(node->type_string()) > 0;
}

}  // namespace

absl::Status BatchedSpec::Read(tf::OpKernelConstruction* ctx,
                               BatchedSpec* spec) {
  std::vector<int64_t> plan;
  std::vector<int64_t> gradients;
  TF_RETURN_IF_ERROR(ctx->GetAttr("plan", &plan));
  TF_RETURN_IF_ERROR(ctx->GetAttr("gradient_plan", &gradients));
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &spec->names));
  TF_RETURN_IF_ERROR(ctx->GetAttr("block_names", &spec->block_names));
  spec->AddToFingerprint(plan);
  PlanDecoder decoder(&plan);
  if (!decoder.Decode(&spec->plan)) {
    return absl::InvalidArgumentError(decoder.error());
  }
  spec->has_gradients = !gradients.empty();
  if (!spec->has_gradients) return absl::OkStatus();
  GradientPlanDecoder gradient_decoder(&spec->plan, &gradients);
  if (!gradient_decoder.Decode(&spec->gradients)) {
    return absl::InvalidArgumentError(gradient_decoder.error());
  }
  // What a gradient takes of the forward pass. What it gives may be less than
  // that of another gradient of the same pass.
  for (const BlockGradient& gradient : spec->gradients) {
    spec->AddToFingerprint({gradient.num_extras});
    spec->AddToFingerprint({gradient.kept.begin(), gradient.kept.end()});
  }
  return absl::OkStatus();
}

void BatchedSpec::AddToFingerprint(const std::vector<int64_t>& numbers) {
  for (const int64_t number : numbers) {
    fingerprint = HashCombine(fingerprint, static_cast<uint64_t>(number));
  }
}

absl::Status BatchedSpec::ReadBlocks(tf::OpKernelConstruction* ctx,
                                     const std::string& name,
                                     int64_t num_rows_to_transpose,
                                     std::vector<BlockSpec>* blocks) {
  std::vector<tf::NameAttrList> functions;
  std::vector<std::vector<int32_t>> invariants;
  TF_RETURN_IF_ERROR(ctx->GetAttr(name, &functions));
  TF_RETURN_IF_ERROR(ReadLists(ctx, absl::StrCat(name, "_invariant_counts"),
                               absl::StrCat(name, "_invariants"), &invariants));
  if (invariants.size() != functions.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "_invariant_counts do not fit ", name, "."));
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    blocks->push_back(
        {functions[i].name(), std::move(invariants[i]), num_rows_to_transpose});
  }
  return absl::OkStatus();
}

absl::Status BatchedSpec::ReadSharing(tf::OpKernelConstruction* ctx,
                                      std::vector<BlockSpec>* blocks) {
  std::string choice;
  std::vector<int32_t> sharing;
  TF_RETURN_IF_ERROR(ctx->GetAttr("share_rows", &choice));
  TF_RETURN_IF_ERROR(ctx->GetAttr("sharing", &sharing));
  if (choice != "auto" && choice != "always" && choice != "never") {
    return absl::InvalidArgumentError(
        absl::StrCat("There is no share_rows '", choice, "'."));
  }
  // One that was saved before there was this has none.
  if (sharing.empty()) return absl::OkStatus();
  if (sharing.size() != blocks->size()) {
    return absl::InvalidArgumentError("sharing does not fit blocks.");
  }
  const int32_t least = choice == "always" ? kMaySharing : kPaysSharing;
  for (size_t i = 0; i < sharing.size(); ++i) {
    (*blocks)[i].shares_rows = choice != "never" && sharing[i] >= least;
  }
  return absl::OkStatus();
}

absl::Status BatchedSpec::ReadBlockKind(tf::OpKernelConstruction* ctx,
                                        std::vector<BlockSpec>* blocks) {
  std::string kind;
  TF_RETURN_IF_ERROR(ctx->GetAttr("block_kind", &kind));
  if (kind != "auto" && kind != "compiled" && kind != "tensorflow") {
    return absl::InvalidArgumentError(
        absl::StrCat("There is no block_kind '", kind, "'."));
  }
  std::optional<TeamSchedule> schedule;
  TF_RETURN_IF_ERROR(TeamSchedule::Read(ctx, &schedule));
  for (BlockSpec& block : *blocks) {
    block.is_compiled = kind != "tensorflow";
    block.schedule = schedule;
  }
  return absl::OkStatus();
}

absl::Status Block::Create(const BlockSpec& spec,
                           tf::FunctionLibraryRuntime* runtime,
                           tf::FunctionLibraryDefinition* library,
                           std::unique_ptr<Block>* block) {
  *block = std::make_unique<Block>();
  Block& made = **block;
  made.spec_ = spec;
  const tf::FunctionDef* function = library->Find(spec.function);
  if (function == nullptr) {
    return absl::InternalError(absl::StrCat(
        "Block '", spec.function, "' is not in the function library."));
  }
  const auto num_invariants = static_cast<int32_t>(spec.invariants.size());
  const int32_t first = function->signature().input_arg_size() - num_invariants;
  made.function_ = std::make_unique<FunctionOnDemand>(spec.function, runtime,
                                                      library, spec.schedule);
  std::unique_ptr<tf::Graph> body;
  TF_RETURN_IF_ERROR(CopyBody(spec.function, library, &body));
  made.may_print_ = absl::c_any_of(body->op_nodes(), MayPrint);
  const std::vector<int32_t> transposed = TransposedArguments(first, *body);
  if (!transposed.empty()) {
    made.wide_function_ = std::make_unique<FunctionOnDemand>(
        spec.function, runtime, library, spec.schedule,
        [transposed](tf::Graph* graph) { TakeTransposed(transposed, graph); });
    made.is_transposed_.assign(num_invariants, false);
    for (const int32_t index : transposed) {
      made.is_transposed_[index - first] = true;
    }
  }
  if (spec.is_compiled) {
    if (first == 1) made.FindTables(*function, *body);
    made.compiled_ = std::make_unique<CompiledBlock>(
        std::move(body), spec.invariants, spec.label);
  }
  return absl::OkStatus();
}

bool Block::IsWide(const std::vector<RowBatch>& rows) const {
  // Of lists there may be other numbers of items.
  return wide_function_ != nullptr &&
         std::any_of(rows.begin(), rows.end(), [this](const RowBatch& each) {
           return each.shape().dim_size(0) >= spec_.num_rows_to_transpose;
         });
}

absl::Status Block::Run(const BatchedStep& step, std::vector<RowBatch> rows,
                        Invariants* invariants,
                        std::vector<tf::Tensor>* outputs,
                        CompiledRun* program) const {
  if (compiled_ != nullptr) {
    TF_RETURN_IF_ERROR(
        compiled_->Run(step, rows, invariants, outputs, program));
    if (program->has_run) return absl::OkStatus();
  }
  const bool is_wide = IsWide(rows);
  std::vector<tf::Tensor> arguments;
  arguments.reserve(rows.size() + spec_.invariants.size());
  for (RowBatch& batch : rows) {
    program->bytes_gathered += batch.ScatteredBytes();
    arguments.push_back(
        std::exchange(batch, RowBatch()).AsTensor(&step.team()));
  }
  // Kernels of the function want the threads.
  step.team().Rest();
  for (size_t i = 0; i < spec_.invariants.size(); ++i) {
    const auto index = static_cast<size_t>(spec_.invariants[i]);
    arguments.push_back(is_wide && is_transposed_[i]
                            ? invariants->GetTransposed(index)
                            : invariants->Get(index));
  }
  const InlineFunction* function = nullptr;
  TF_RETURN_IF_ERROR((is_wide ? *wide_function_ : *function_).Get(&function));
  return function->Run(step.args(), std::move(arguments), outputs);
}

void Block::FindTables(const tf::FunctionDef& function, const tf::Graph& body) {
  number_type_ = function.signature().input_arg(0).type();
  if (number_type_ != tf::DT_INT32 && number_type_ != tf::DT_INT64) return;
  tables_ = TablesOfRows(body);
  gives_rows_ = !tables_.empty();
  if (!gives_rows_) tables_ = TablesOfNumbers(body);
  for (LookedUpTable& table : tables_) {
    if (table.invariant == LookedUpTable::kConstant) continue;
    table.invariant = spec_.invariants[table.invariant];
  }
}

absl::Status Block::FindKnownRows(const BatchedStep& step, int32_t num_rows,
                                  const std::vector<tf::Tensor>& prologue,
                                  Invariants* invariants,
                                  KnownRows* known) const {
  if (tables_.empty()) return absl::OkStatus();
  std::vector<tf::Tensor> tables;
  int64_t size = std::numeric_limits<int32_t>::max();
  for (const LookedUpTable& table : tables_) {
    tables.push_back(table.invariant == LookedUpTable::kConstant
                         ? table.constant
                         : prologue[table.invariant]);
    const tf::Tensor& rows = tables.back();
    size = std::min(size, rows.dims() == 0 ? 0 : rows.dim_size(0));
  }
  if (size == 0) return absl::OkStatus();
  known->num_rows = static_cast<int32_t>(size);
  known->are_borrowed = gives_rows_;
  if (gives_rows_) {
    known->outputs = std::move(tables);
    return absl::OkStatus();
  }
  if (!MayComputeAhead(size, num_rows)) return absl::OkStatus();
  return ComputeAhead(step, size, invariants, known);
}

bool Block::MayComputeAhead(int64_t size, int32_t num_rows) const {
  // A launch takes as long as some hundred rows, and trees have some tens.
  const int64_t expected =
      std::max(4 * num_rows_last(), 512 + int64_t{64} * num_rows);
  return size <= expected;
}

absl::Status Block::ComputeAhead(const BatchedStep& step, int64_t size,
                                 Invariants* invariants,
                                 KnownRows* known) const {
  tf::Tensor numbers = NewTensorOrThrow(number_type_, {size});
  if (number_type_ == tf::DT_INT32) {
    auto* const first = static_cast<int32_t*>(numbers.data());
    std::iota(first, first + size, 0);
  } else {
    auto* const first = static_cast<int64_t*>(numbers.data());
    std::iota(first, first + size, 0);
  }
  std::vector<RowBatch> rows(1);
  rows[0] = RowBatch(std::move(numbers));
  std::vector<tf::Tensor> outputs;
  CompiledRun run;
  TF_RETURN_IF_ERROR(compiled_->Run(step, rows, invariants, &outputs, &run));
  // What cannot be computed of all numbers is launched for those that come.
  const bool are_rows =
      run.has_run && absl::c_all_of(outputs, [size](const tf::Tensor& output) {
        return output.dims() > 0 && output.dim_size(0) == size;
      });
  if (are_rows) known->outputs = std::move(outputs);
  return absl::OkStatus();
}

std::string Block::WhyNotCompiled() const {
  if (compiled_ == nullptr) return "blocks=\"tensorflow\"";
  return compiled_->WhyNot();
}

absl::Status Blocks::Create(const std::vector<BlockSpec>& specs,
                            tf::FunctionLibraryRuntime* runtime,
                            std::unique_ptr<Blocks>* blocks) {
  auto created =
      absl::WrapUnique(new Blocks(*runtime->GetFunctionLibraryDefinition()));
  for (const BlockSpec& spec : specs) {
    std::unique_ptr<Block>& block = created->blocks_.emplace_back();
    TF_RETURN_IF_ERROR(
        Block::Create(spec, runtime, &created->library_, &block));
  }
  *blocks = std::move(created);
  return absl::OkStatus();
}

}  // namespace recursive_tf
