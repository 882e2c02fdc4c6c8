// All arguments of a function, or all its results, by one op.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// What both kernels do, for each argument or result that they are for.
class FrameKernel : public tf::OpKernel {
 public:
  explicit FrameKernel(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<tf::DataType> types;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("indices", &indices_));
    OP_REQUIRES(ctx, indices_.size() == types.size(),
                absl::InvalidArgumentError("indices do not fit T."));
  }

  void Compute(tf::OpKernelContext* ctx) final {
    tf::CallFrameInterface* const frame = ctx->call_frame();
    OP_REQUIRES(
        ctx, frame != nullptr,
        absl::InvalidArgumentError("This op stands in functions only."));
    const size_t count = Count(*frame);
    for (size_t i = 0; i < indices_.size(); ++i) {
      const int32_t index = indices_[i];
      OP_REQUIRES(
          ctx, index >= 0 && static_cast<size_t>(index) < count,
          absl::InvalidArgumentError("The function has fewer of them."));
      OP_REQUIRES_OK(ctx, HandOver(ctx, frame, index, static_cast<int>(i)));
    }
  }

 private:
  // Returns how many of them a function has.
  virtual size_t Count(const tf::CallFrameInterface& frame) const = 0;

  // Takes or sets number `index` of the function, which is that of the op at
  // `place`.
  virtual absl::Status HandOver(tf::OpKernelContext* ctx,
                                tf::CallFrameInterface* frame, int32_t index,
                                int place) const = 0;

  std::vector<int32_t> indices_;
};

class ArgumentsOp : public FrameKernel {
 public:
  using FrameKernel::FrameKernel;

 private:
  size_t Count(const tf::CallFrameInterface& frame) const override {
    return frame.num_args();
  }

  absl::Status HandOver(tf::OpKernelContext* ctx, tf::CallFrameInterface* frame,
                        int32_t index, int place) const override {
    tf::Tensor value;
    if (frame->CanConsumeArg(index)) {
      frame->ConsumeArg(index, &value);
    } else {
      const tf::Tensor* argument = nullptr;
      TF_RETURN_IF_ERROR(frame->GetArg(index, &argument));
      value = *argument;
    }
    if (value.dtype() != ctx->expected_output_dtype(place)) {
      return absl::InvalidArgumentError("An argument is of another type.");
    }
    ctx->set_output(place, std::move(value));
    return absl::OkStatus();
  }
};

class ResultsOp : public FrameKernel {
 public:
  using FrameKernel::FrameKernel;

 private:
  size_t Count(const tf::CallFrameInterface& frame) const override {
    return frame.num_retvals();
  }

  absl::Status HandOver(tf::OpKernelContext* ctx, tf::CallFrameInterface* frame,
                        int32_t index, int place) const override {
    return frame->SetRetval(index, ctx->input(place));
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveArguments").Device(tf::DEVICE_CPU),
                        ArgumentsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveResults").Device(tf::DEVICE_CPU),
                        ResultsOp);

}  // namespace
}  // namespace recursive_tf
