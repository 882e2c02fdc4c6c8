// Ops that show what a step is, to tests of the library: compiled by them.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/threadpool.h"

namespace {

namespace tf = tensorflow;

REGISTER_OP("TestStep")
    .Input("after: int32")
    .Output("deadline: int64")
    .Output("threads: int64")
    .SetIsStateful()
    .SetShapeFn(tf::shape_inference::ScalarShape)
    .Doc(
        "Returns when the step ends, in microseconds of 1970, or -1; and which "
        "threads kernels use in it.");

class StepOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    const auto deadline = ctx->deadline();
    Set(ctx, 0, deadline.has_value() ? absl::ToUnixMicros(*deadline) : -1);
    const auto* workers = ctx->device()->tensorflow_cpu_worker_threads();
    Set(ctx, 1,
        reinterpret_cast<intptr_t>(workers->workers->AsEigenThreadPool()));
  }

 private:
  static void Set(tf::OpKernelContext* ctx, int index, int64_t value) {
    tf::Tensor* output = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(index, {}, &output));
    output->scalar<int64_t>()() = value;
  }
};

REGISTER_OP("TestRunAlone")
    .Input("arg: int32")
    .Output("result: int32")
    .Attr("f: func")
    .SetIsStateful()
    .SetShapeFn(tf::shape_inference::ScalarShape)
    .Doc("Runs `f` in a step that has nothing to cancel it by.");

class RunAloneOp : public tf::AsyncOpKernel {
 public:
  explicit RunAloneOp(tf::OpKernelConstruction* ctx) : AsyncOpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("f", &function_));
  }

  void ComputeAsync(tf::OpKernelContext* ctx, DoneCallback done) override {
    tf::FunctionLibraryRuntime* const library = ctx->function_library();
    tf::FunctionLibraryRuntime::Handle handle;
    OP_REQUIRES_OK_ASYNC(
        ctx,
        library->Instantiate(function_.name(), tf::AttrSlice(&function_.attr()),
                             &handle),
        done);
    tf::FunctionLibraryRuntime::Options options;
    options.runner = ctx->runner();
    options.cancellation_manager = nullptr;
    auto* const results = new std::vector<tf::Tensor>;
    library->Run(options, handle, {ctx->input(0)}, results,
                 [ctx, results, done = std::move(done)](absl::Status status) {
                   ctx->SetStatus(status);
                   if (status.ok()) ctx->set_output(0, results->front());
                   delete results;
                   done();
                 });
  }

 private:
  tf::NameAttrList function_;
};

REGISTER_KERNEL_BUILDER(Name("TestStep").Device(tf::DEVICE_CPU), StepOp);
REGISTER_KERNEL_BUILDER(Name("TestRunAlone").Device(tf::DEVICE_CPU),
                        RunAloneOp);

}  // namespace
