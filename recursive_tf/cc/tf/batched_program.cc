#include "recursive_tf/cc/tf/batched_program.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/gradient_plan_decoder.h"
#include "recursive_tf/cc/batching/plan_decoder.h"
#include "recursive_tf/cc/tf/inline_function.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BatchedSpec::Read(tf::OpKernelConstruction* ctx,
                               BatchedSpec* spec) {
  std::vector<int64_t> plan;
  std::vector<int64_t> gradients;
  TF_RETURN_IF_ERROR(ctx->GetAttr("plan", &plan));
  TF_RETURN_IF_ERROR(ctx->GetAttr("gradient_plan", &gradients));
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &spec->names));
  TF_RETURN_IF_ERROR(ctx->GetAttr("block_names", &spec->block_names));
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
  return absl::OkStatus();
}

absl::Status BatchedSpec::ReadBlocks(tf::OpKernelConstruction* ctx,
                                     const std::string& name,
                                     std::vector<BlockSpec>* blocks) {
  std::vector<tf::NameAttrList> functions;
  std::vector<int32_t> counts;
  std::vector<int32_t> invariants;
  TF_RETURN_IF_ERROR(ctx->GetAttr(name, &functions));
  TF_RETURN_IF_ERROR(
      ctx->GetAttr(absl::StrCat(name, "_invariant_counts"), &counts));
  TF_RETURN_IF_ERROR(
      ctx->GetAttr(absl::StrCat(name, "_invariants"), &invariants));
  auto next = invariants.begin();
  for (size_t i = 0; i < functions.size(); ++i) {
    const int32_t count = i < counts.size() ? counts[i] : -1;
    if (count < 0 || count > invariants.end() - next) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, "_invariant_counts do not fit ", name, "_invariants."));
    }
    blocks->push_back({functions[i].name(), {next, next + count}});
    next += count;
  }
  return absl::OkStatus();
}

absl::Status Block::Create(const BlockSpec& spec,
                           tf::FunctionLibraryRuntime* runtime,
                           tf::FunctionLibraryDefinition* library,
                           std::unique_ptr<Block>* block) {
  *block = std::make_unique<Block>();
  (*block)->invariants_ = spec.invariants;
  return InlineFunction::Create(spec.function, runtime, library,
                                &(*block)->function_);
}

absl::Status Block::Run(const tf::Executor::Args& step,
                        std::vector<tf::Tensor> rows,
                        const std::vector<tf::Tensor>& prologue,
                        std::vector<tf::Tensor>* outputs) const {
  rows.reserve(rows.size() + invariants_.size());
  for (const int32_t index : invariants_) {
    if (static_cast<size_t>(index) >= prologue.size()) {
      return absl::InvalidArgumentError(
          "A block takes an output of the prologue that is not there.");
    }
    rows.push_back(prologue[index]);
  }
  return function_->Run(step, std::move(rows), outputs);
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
