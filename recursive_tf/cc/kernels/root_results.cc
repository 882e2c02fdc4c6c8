#include "recursive_tf/cc/kernels/root_results.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/push_table.h"
#include "recursive_tf/cc/tf/returned.h"
#include "recursive_tf/cc/tf/signature.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status RootResults::Read(tf::OpKernelConstruction* ctx) {
  std::vector<std::string> names;
  TF_RETURN_IF_ERROR(ctx->GetAttr("names", &names));
  entry_ = std::make_shared<const std::string>(names.front());
  TF_RETURN_IF_ERROR(ctx->GetAttr("output_shapes", &output_shapes_));
  std::vector<std::string> push_names;
  TF_RETURN_IF_ERROR(ctx->GetAttr("push_names", &push_names));
  push_names_ = std::make_shared<const std::vector<std::string>>(push_names);
  TF_RETURN_IF_ERROR(ctx->GetAttr("pushed_shapes", &pushed_shapes_));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Tpushed", &pushed_types_));
  tf::DataTypeVector output_types;
  tf::DataTypeVector size_types;
  TF_RETURN_IF_ERROR(ctx->GetAttr("Toutputs", &output_types));
  TF_RETURN_IF_ERROR(ctx->GetAttr("Tpush_sizes", &size_types));
  if (output_shapes_.size() != output_types.size() ||
      push_names.size() != pushed_types_.size() ||
      pushed_shapes_.size() != pushed_types_.size() ||
      size_types.size() != pushed_types_.size()) {
    return Damaged(*entry_, "its outputs or pushes have other shapes or names");
  }
  return absl::OkStatus();
}

absl::Status RootResults::MakePushTables(tf::OpKernelContext* ctx,
                                         PushTables* tables) const {
  tf::OpInputList sizes;
  TF_RETURN_IF_ERROR(ctx->input_list("push_sizes", &sizes));
  for (int i = 0; i < sizes.size(); ++i) {
    const int64_t size =
        sizes[i].NumElements() == 1 ? sizes[i].flat<int64_t>()(0) : -1;
    if (size < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("size= of push '", (*push_names_)[i],
                       "' must be a scalar that is not negative; got ",
                       sizes[i].DebugString(), "."));
    }
    tables->push_back(std::make_unique<PushTable>(
        (*push_names_)[i], size, pushed_types_[i], pushed_shapes_[i]));
    TF_RETURN_IF_ERROR(tables->back()->CheckMemory());
  }
  return absl::OkStatus();
}

absl::Status RootResults::SetOutputsOfNoRows(tf::OpKernelContext* ctx) const {
  tf::OpOutputList outputs;
  TF_RETURN_IF_ERROR(ctx->output_list("outputs", &outputs));
  for (int i = 0; i < outputs.size(); ++i) {
    tf::Tensor none;
    TF_RETURN_IF_ERROR(StackNoRows(outputs.expected_output_dtype(i),
                                   output_shapes_[i], NameOfOutput(*entry_, i),
                                   &none));
    outputs.set(i, none);
  }
  return absl::OkStatus();
}

absl::Status RootResults::SetPushed(tf::OpKernelContext* ctx,
                                    const PushTables& tables) {
  tf::OpOutputList pushed;
  TF_RETURN_IF_ERROR(ctx->output_list("pushed", &pushed));
  for (int i = 0; i < pushed.size(); ++i) {
    tf::Tensor table;
    TF_RETURN_IF_ERROR(tables[i]->Result(&table));
    pushed.set(i, table);
  }
  return absl::OkStatus();
}

absl::Status RootResults::Describe(tf::OpKernelContext* ctx,
                                   Returned* returned) const {
  returned->subgraph = entry_;
  returned->push_names = push_names_;
  const auto describe = [ctx](const char* name, std::vector<Kind>* kinds) {
    tf::OpOutputList list;
    TF_RETURN_IF_ERROR(ctx->output_list(name, &list));
    for (int i = 0; i < list.size(); ++i) {
      kinds->push_back({list[i]->dtype(), list[i]->shape()});
    }
    return absl::OkStatus();
  };
  TF_RETURN_IF_ERROR(describe("outputs", &returned->outputs));
  return describe("pushed", &returned->tables);
}

std::string NameOfOutput(const std::string& entry, int index) {
  return absl::StrCat("SubGraph '", entry, "': output ", index);
}

absl::Status CountRows(const std::vector<tf::Tensor>& arguments,
                       int64_t* num_rows) {
  if (arguments.empty()) {
    return absl::InvalidArgumentError(".map takes one argument at least.");
  }
  for (const tf::Tensor& argument : arguments) {
    if (argument.dims() == 0 ||
        argument.dim_size(0) != arguments.front().dim_size(0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          ".map takes arguments with the same first dimension, the number of "
          "rows; got the shapes ",
          arguments.front().shape().DebugString(), " and ",
          argument.shape().DebugString(), "."));
    }
  }
  *num_rows = arguments.front().dim_size(0);
  // Rows are counted in 32 bits.
  if (*num_rows > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(".map takes up to 2^31 - 1 rows; got ", *num_rows,
                     ". Call it for parts of them."));
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
