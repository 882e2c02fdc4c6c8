#include "absl/status/status.h"
#include "recursive_tf/cc/tf/slices.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Gives what it takes if each row is there once, as where rows are shared.
class AddUpSlicesOp : public tf::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tf::OpKernelContext* ctx) override {
    tf::Tensor values = ctx->input(0);
    tf::Tensor indices = ctx->input(1);
    const auto make = [ctx](tf::DataType dtype, const tf::TensorShape& shape,
                            tf::Tensor* made) {
      return ctx->allocate_temp(dtype, shape, made);
    };
    OP_REQUIRES_OK(ctx, AddUpSlices(make, /*team=*/nullptr, &values, &indices));
    ctx->set_output(0, values);
    ctx->set_output(1, indices);
  }
};

REGISTER_KERNEL_BUILDER(Name("RecursiveAddUpSlices").Device(tf::DEVICE_CPU),
                        AddUpSlicesOp);

}  // namespace
}  // namespace recursive_tf
