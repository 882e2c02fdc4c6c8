#include "recursive_tf/cc/tf/procedures.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/make_executor.h"
#include "recursive_tf/cc/tf/narrow_graph.h"
#include "recursive_tf/cc/tf/own_ops.h"
#include "recursive_tf/cc/tf/procedure_graph.h"
#include "recursive_tf/cc/tf/read_lists.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Names the nodes after the procedure: a profile has no other sign of it.
// TensorFlow takes a name with other characters for something else than an op.
void AddScope(const std::string& procedure, tf::Graph* graph) {
  std::string scope = procedure;
  for (char& c : scope) {
    if (!absl::ascii_isalnum(c) && c != '/') c = '_';
  }
  scope.erase(0, scope.find_first_not_of('_'));
  for (tf::Node* node : graph->op_nodes()) {
    node->set_name(absl::StrCat(scope, "/", node->name()));
  }
}

bool HasForeignState(const tf::Graph& graph) {
  for (const tf::Node* node : graph.op_nodes()) {
    if (IsStateful(*node) && !IsOwnOp(node->type_string())) return true;
  }
  return false;
}

// An upper estimate of what a run of TensorFlow's executor holds.
int64_t BytesPerCall(const tf::Graph& graph) {
  constexpr int64_t kBytes = 4096;
  constexpr int64_t kBytesPerNode = 512;
  return kBytes + kBytesPerNode * graph.num_op_nodes();
}

}  // namespace

absl::Status ProgramSpec::Read(tf::OpKernelConstruction* ctx,
                               ProgramSpec* spec) {
  std::vector<tf::NameAttrList> functions;
  std::vector<std::string> names;
  TF_RETURN_IF_ERROR(ctx->GetAttr("procedures", &functions));
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &names));
  TF_RETURN_IF_ERROR(
      ReadLists(ctx, "capture_counts", "capture_indices", &spec->captures));
  TF_RETURN_IF_ERROR(TeamSchedule::Read(ctx, &spec->schedule));
  if (names.size() != functions.size() ||
      spec->captures.size() != functions.size()) {
    return absl::InvalidArgumentError(
        "procedures, names and capture_counts differ in length.");
  }
  for (const tf::NameAttrList& function : functions) {
    spec->functions.push_back(function.name());
  }
  spec->names =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  return absl::OkStatus();
}

Procedures::Procedures(const ProgramSpec& spec,
                       tf::FunctionLibraryRuntime* runtime)
    : names_(spec.names),
      schedule_(spec.schedule),
      runtime_(runtime),
      library_(*runtime->GetFunctionLibraryDefinition()) {}

absl::Status Procedures::Create(const ProgramSpec& spec,
                                tf::FunctionLibraryRuntime* runtime,
                                std::unique_ptr<Procedures>* procedures) {
  auto created = absl::WrapUnique(new Procedures(spec, runtime));
  for (size_t i = 0; i < spec.functions.size(); ++i) {
    TF_RETURN_IF_ERROR(created->Add(spec.functions[i], spec.captures[i]));
  }
  *procedures = std::move(created);
  return absl::OkStatus();
}

absl::Status Procedures::Add(const std::string& function,
                             std::vector<int> captures) {
  std::unique_ptr<tf::Graph> graph;
  TF_RETURN_IF_ERROR(
      BuildProcedureGraph(function, runtime_, &library_, &graph));
  AddScope((*names_)[procedures_.size()], graph.get());
  NarrowGraph(graph.get());
  std::unique_ptr<tf::Executor> executor;
  TF_RETURN_IF_ERROR(MakeExecutor(
      *graph, runtime_,
      [this](tf::OpKernel* kernel) {
        const bool waits =
            kernel->AsAsync() != nullptr && !IsOwnOp(kernel->def().op());
        only_compute_ = only_compute_ && !waits;
      },
      schedule_, /*is_in_calls=*/true, &executor));
  const tf::OpDef& signature = library_.Find(function)->signature();
  const auto num_captures = static_cast<int>(captures.size());
  procedures_.push_back(std::make_unique<Procedure>(
      std::move(executor), std::move(captures),
      signature.input_arg_size() - 1 - num_captures,
      signature.output_arg_size(), !HasForeignState(*graph),
      BytesPerCall(*graph)));
  return absl::OkStatus();
}

}  // namespace recursive_tf
