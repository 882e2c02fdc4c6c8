#include "recursive_tf/cc/tf/procedures.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/tf/function_rewrite.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status ProgramSpec::Read(tf::OpKernelConstruction* ctx,
                               ProgramSpec* spec) {
  std::vector<tf::NameAttrList> functions;
  std::vector<std::string> names;
  std::vector<int32_t> counts;
  std::vector<int32_t> indices;
  TF_RETURN_IF_ERROR(ctx->GetAttr("procedures", &functions));
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &names));
  TF_RETURN_IF_ERROR(ctx->GetAttr("capture_counts", &counts));
  TF_RETURN_IF_ERROR(ctx->GetAttr("capture_indices", &indices));
  if (names.size() != functions.size() || counts.size() != functions.size()) {
    return absl::InvalidArgumentError(
        "procedures, names and capture_counts differ in length.");
  }
  for (const tf::NameAttrList& function : functions) {
    spec->functions.push_back(function.name());
  }
  spec->names =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  auto next = indices.begin();
  for (int32_t count : counts) {
    if (count < 0 || count > indices.end() - next) {
      return absl::InvalidArgumentError(
          "capture_counts do not fit capture_indices.");
    }
    spec->captures.emplace_back(next, next + count);
    next += count;
  }
  return absl::OkStatus();
}

Procedures::Procedures(ProgramSpec spec, tf::FunctionLibraryRuntime* runtime)
    : spec_(std::move(spec)),
      runtime_(runtime),
      library_(*runtime->GetFunctionLibraryDefinition()) {}

absl::Status Procedures::Create(const ProgramSpec& spec,
                                tf::FunctionLibraryRuntime* runtime,
                                std::unique_ptr<Procedures>* procedures) {
  auto created = absl::WrapUnique(new Procedures(spec, runtime));
  for (const std::string& function : spec.functions) {
    TF_RETURN_IF_ERROR(created->Instantiate(function));
  }
  *procedures = std::move(created);
  return absl::OkStatus();
}

absl::Status Procedures::Instantiate(const std::string& function) {
  std::string rewritten;
  TF_RETURN_IF_ERROR(RewriteForExecution(function, runtime_->device()->name(),
                                         &library_, &rewritten));
  // Never copy the caller's executor type: a single-threaded executor would
  // block a thread a level.
  tf::FunctionLibraryRuntime::InstantiateOptions options;
  options.lib_def = &library_;
  tf::FunctionLibraryRuntime::Handle handle;
  TF_RETURN_IF_ERROR(
      runtime_->Instantiate(rewritten, tf::AttrSlice(), options, &handle));
  handles_.push_back(handle);
  return absl::OkStatus();
}

Procedures::~Procedures() {
  for (tf::FunctionLibraryRuntime::Handle handle : handles_) {
    runtime_->ReleaseHandle(handle).IgnoreError();
  }
}

}  // namespace recursive_tf
