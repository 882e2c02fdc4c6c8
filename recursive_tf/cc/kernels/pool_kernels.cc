// The gradient of max pooling, which in a backward body TensorFlow has no fast
// kernel for (see cc/tf/pool_gradients.h).

#include "recursive_tf/cc/tf/max_pool_gradient.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

template <typename T>
class MaxPoolGradientOp : public tf::OpKernel {
 public:
  explicit MaxPoolGradientOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, gradient_.Read(ctx));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, gradient_.Run<T>(ctx));
  }

 private:
  MaxPoolGradient gradient_;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveMaxPoolGradient")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        MaxPoolGradientOp<float>);
REGISTER_KERNEL_BUILDER(Name("RecursiveMaxPoolGradient")
                            .Device(tf::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        MaxPoolGradientOp<double>);

}  // namespace
}  // namespace recursive_tf
