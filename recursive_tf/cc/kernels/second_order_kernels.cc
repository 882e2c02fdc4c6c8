// What makes the gradient of a root call differentiable in its turn. Nothing is
// computed here: the gradients of these ops are what matters.

#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// To TensorFlow's executor these are cheap: they cause no work on other
// threads.
class CheapKernel : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  bool IsExpensive() override { return false; }
};

// Ports are zeros, of types that are plain numbers. Nobody reads them.
class PortsOp : public CheapKernel {
 public:
  explicit PortsOp(tf::OpKernelConstruction* ctx) : CheapKernel(ctx) {
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      OP_REQUIRES(ctx, tf::DataTypeCanUseMemcpy(ctx->output_type(i)),
                  absl::InvalidArgumentError("A port is no number."));
      const tf::Tensor& port =
          zeros_.emplace_back(ctx->output_type(i), tf::TensorShape({}));
      std::memset(port.data(), 0, port.TotalBytes());
    }
  }

  void Compute(tf::OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_outputs(); ++i) ctx->set_output(i, zeros_[i]);
  }

 private:
  std::vector<tf::Tensor> zeros_;
};

class TieOp : public CheapKernel {
 public:
  using CheapKernel::CheapKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    for (int i = 0; i < ctx->num_outputs(); ++i) {
      ctx->set_output(i, ctx->input(i));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursivePorts").Device(tf::DEVICE_CPU), PortsOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveTie").Device(tf::DEVICE_CPU), TieOp);

}  // namespace
}  // namespace recursive_tf
