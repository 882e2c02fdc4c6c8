#include "recursive_tf/cc/kernels/root_kernel.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/runtime/trace_log.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

RootKernel::RootKernel(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
  OP_REQUIRES_OK(ctx, ProgramSpec::Read(ctx, &spec_));
  OP_REQUIRES_OK(ctx, ctx->GetAttr("mapped", &mapped_));
  OP_REQUIRES_OK(ctx, ctx->GetAttr("Tcaptures", &types_.captures));
}

absl::Status RootKernel::GetProcedures(tf::OpKernelContext* ctx,
                                       const Procedures** procedures) {
  MutexLock lock(&mu_);
  if (procedures_ == nullptr) {
    TF_RETURN_IF_ERROR(
        BindProgram(spec_, types_,
                    *ctx->function_library()->GetFunctionLibraryDefinition()));
    TF_RETURN_IF_ERROR(
        Procedures::Create(spec_, ctx->function_library(), &procedures_));
  }
  *procedures = procedures_.get();
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
  TF_RETURN_IF_ERROR(rows.CheckCount(outputs.size()));
  for (int i = 0; i < outputs.size(); ++i) {
    if (outputs.expected_output_dtype(i) != tf::DT_VARIANT) continue;
    for (const tf::Tensor& result : rows.Column(i)) {
      TF_RETURN_IF_ERROR(CheckNamesNoCall(result));
    }
  }
  if (mapped_) return StackOutputs(ctx, name, rows, spec_.names->front());
  for (int i = 0; i < outputs.size(); ++i) outputs.set(i, rows.At(0, i));
  return absl::OkStatus();
}

}  // namespace recursive_tf
