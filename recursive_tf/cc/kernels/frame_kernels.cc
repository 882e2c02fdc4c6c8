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

// What both kernels know: which arguments or results they are for.
class FrameKernel : public tf::OpKernel {
 public:
  explicit FrameKernel(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    std::vector<tf::DataType> types;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("T", &types));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("indices", &indices_));
    OP_REQUIRES(ctx, indices_.size() == types.size(),
                absl::InvalidArgumentError("indices do not fit T."));
  }

 protected:
  // Returns an error if there is none of `count` for an index.
  absl::Status Check(size_t count) const {
    for (const int32_t index : indices_) {
      if (index < 0 || static_cast<size_t>(index) >= count) {
        return absl::InvalidArgumentError("The function has fewer of them.");
      }
    }
    return absl::OkStatus();
  }

  const std::vector<int32_t>& indices() const { return indices_; }

 private:
  std::vector<int32_t> indices_;
};

absl::Status FrameOf(tf::OpKernelContext* ctx, tf::CallFrameInterface** frame) {
  *frame = ctx->call_frame();
  if (*frame != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError("This op stands in functions only.");
}

class ArgumentsOp : public FrameKernel {
 public:
  using FrameKernel::FrameKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    tf::CallFrameInterface* frame = nullptr;
    OP_REQUIRES_OK(ctx, FrameOf(ctx, &frame));
    OP_REQUIRES_OK(ctx, Check(frame->num_args()));
    for (size_t i = 0; i < indices().size(); ++i) {
      OP_REQUIRES_OK(ctx, Give(ctx, frame, static_cast<int>(i)));
    }
  }

 private:
  absl::Status Give(tf::OpKernelContext* ctx, tf::CallFrameInterface* frame,
                    int output) const {
    const int32_t index = indices()[output];
    tf::Tensor value;
    if (frame->CanConsumeArg(index)) {
      frame->ConsumeArg(index, &value);
    } else {
      const tf::Tensor* argument = nullptr;
      TF_RETURN_IF_ERROR(frame->GetArg(index, &argument));
      value = *argument;
    }
    if (value.dtype() != ctx->expected_output_dtype(output)) {
      return absl::InvalidArgumentError("An argument is of another type.");
    }
    ctx->set_output(output, std::move(value));
    return absl::OkStatus();
  }
};

class ResultsOp : public FrameKernel {
 public:
  using FrameKernel::FrameKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    tf::CallFrameInterface* frame = nullptr;
    OP_REQUIRES_OK(ctx, FrameOf(ctx, &frame));
    OP_REQUIRES_OK(ctx, Check(frame->num_retvals()));
    for (size_t i = 0; i < indices().size(); ++i) {
      OP_REQUIRES_OK(
          ctx, frame->SetRetval(indices()[i], ctx->input(static_cast<int>(i))));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveArguments").Device(tf::DEVICE_CPU),
                        ArgumentsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveResults").Device(tf::DEVICE_CPU),
                        ResultsOp);

}  // namespace
}  // namespace recursive_tf
