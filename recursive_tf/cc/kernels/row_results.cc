#include "recursive_tf/cc/kernels/row_results.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/stack_rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status InputList(tf::OpKernelContext* ctx, const char* name,
                       std::vector<tf::Tensor>* tensors) {
  tf::OpInputList list;
  TF_RETURN_IF_ERROR(ctx->input_list(name, &list));
  tensors->assign(list.begin(), list.end());
  return absl::OkStatus();
}

absl::Status RowResults::CheckCount(int count) const {
  for (const std::vector<tf::Tensor>& row : results_) {
    if (row.size() != static_cast<size_t>(count)) {
      return absl::InternalError(absl::StrCat("a call returned ", row.size(),
                                              " values where ", count,
                                              " were expected"));
    }
  }
  return absl::OkStatus();
}

std::vector<tf::Tensor> RowResults::Column(size_t index) const {
  std::vector<tf::Tensor> column;
  column.reserve(results_.size());
  for (const std::vector<tf::Tensor>& row : results_) {
    column.push_back(row[index]);
  }
  return column;
}

RowCall::Done EndRows(size_t num_rows, EndAll end_all) {
  // Shared, because every row gets a copy of what is returned.
  auto results = std::make_shared<RowResults>(num_rows);
  auto end = std::make_shared<const EndAll>(std::move(end_all));
  return [results = std::move(results), end = std::move(end)](
             size_t row, const absl::Status& status,
             std::vector<tf::Tensor> row_results) {
    if (results->End(row, status, std::move(row_results))) (*end)(results);
  };
}

absl::Status SplitRows(std::vector<tf::Tensor> arguments, bool mapped,
                       std::vector<std::vector<tf::Tensor>>* rows) {
  if (!mapped) {
    rows->push_back(std::move(arguments));
    return absl::OkStatus();
  }
  int64_t num_rows = 0;
  TF_RETURN_IF_ERROR(CountRows(arguments, &num_rows));
  rows->resize(num_rows);
  for (int64_t row = 0; row < num_rows; ++row) {
    for (const tf::Tensor& argument : arguments) {
      TF_RETURN_IF_ERROR(CopyRow(argument, row, &(*rows)[row].emplace_back()));
    }
  }
  return absl::OkStatus();
}

absl::Status StackOutputs(tf::OpKernelContext* ctx, const char* name,
                          const RowResults& rows, const std::string& subgraph) {
  tf::OpOutputList outputs;
  TF_RETURN_IF_ERROR(ctx->output_list(name, &outputs));
  TF_RETURN_IF_ERROR(rows.CheckCount(outputs.size()));
  for (int i = 0; i < outputs.size(); ++i) {
    tf::Tensor stacked;
    TF_RETURN_IF_ERROR(
        StackRows(rows.Column(i), NameOfOutput(subgraph, i), &stacked));
    outputs.set(i, stacked);
  }
  return absl::OkStatus();
}

absl::Status SetGradientsOfNoRows(tf::OpKernelContext* ctx,
                                  const std::vector<tf::Tensor>& arguments,
                                  int num_shared) {
  tf::OpOutputList gradients;
  TF_RETURN_IF_ERROR(ctx->output_list("input_gradients", &gradients));
  const int num_rows_gradients = gradients.size() - num_shared;
  int next = 0;
  for (const tf::Tensor& argument : arguments) {
    // The arguments without a gradient have other types.
    if (next == gradients.size() ||
        argument.dtype() != gradients.expected_output_dtype(next)) {
      continue;
    }
    if (next < num_rows_gradients) {
      gradients.set(next++, argument);
      continue;
    }
    tf::Tensor* zeros = nullptr;
    TF_RETURN_IF_ERROR(gradients.allocate(next++, argument.shape(), &zeros));
    std::memset(zeros->data(), 0, zeros->TotalBytes());
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
