#include "recursive_tf/cc/kernels/root_kernel.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/kernels/root_results.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/rows.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

RootKernel::RootKernel(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
  OP_REQUIRES_OK(ctx, ProgramSpec::Read(ctx, &spec_));
  OP_REQUIRES_OK(ctx, ctx->GetAttr("mapped", &mapped_));
}

absl::Status RootKernel::GetProcedures(tf::OpKernelContext* ctx,
                                       const Procedures** procedures) {
  MutexLock lock(&mu_);
  if (procedures_ == nullptr) {
    TF_RETURN_IF_ERROR(
        Procedures::Create(spec_, ctx->function_library(), &procedures_));
  }
  *procedures = procedures_.get();
  return absl::OkStatus();
}

absl::Status InputList(tf::OpKernelContext* ctx, const char* name,
                       std::vector<tf::Tensor>* tensors) {
  tf::OpInputList list;
  TF_RETURN_IF_ERROR(ctx->input_list(name, &list));
  tensors->assign(list.begin(), list.end());
  return absl::OkStatus();
}

absl::Status RowResults::status() const {
  for (const absl::Status& status : statuses_) {
    if (!status.ok()) return status;
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

tf::AsyncOpKernel::DoneCallback RootKernel::Traced(const char* category,
                                                   int64_t num_rows,
                                                   DoneCallback done) const {
  if (!TraceLog::Global().is_recording()) return done;
  return [name = spec_.names->front(), category, num_rows,
          start = TraceLog::Clock::now(), done = std::move(done)] {
    TraceLog::Global().Add(name, category, start, num_rows);
    done();
  };
}

absl::Status RootKernel::SetOutputsFromRows(tf::OpKernelContext* ctx,
                                            const char* name,
                                            const RowResults& rows) const {
  tf::OpOutputList outputs;
  TF_RETURN_IF_ERROR(ctx->output_list(name, &outputs));
  for (int i = 0; i < outputs.size(); ++i) {
    const std::vector<tf::Tensor> column = rows.Column(i);
    if (!mapped_) {
      outputs.set(i, column.front());
      continue;
    }
    tf::Tensor stacked;
    TF_RETURN_IF_ERROR(
        StackRows(column, NameOfOutput(spec_.names->front(), i), &stacked));
    outputs.set(i, stacked);
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
