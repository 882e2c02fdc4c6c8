#include <cstddef>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/adagrad_update.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

template <typename T>
class ApplyAdagradOp : public tf::OpKernel {
 public:
  explicit ApplyAdagradOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, CheckChosenSet());
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &spec_.num_variables));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("M", &spec_.num_tables));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, UpdateByAdagrad<T>(spec_, ctx));
  }

 private:
  AdagradSpec spec_;
};

#define RECURSIVE_TF_REGISTER(T)                        \
  REGISTER_KERNEL_BUILDER(Name("RecursiveApplyAdagrad") \
                              .Device(tf::DEVICE_CPU)   \
                              .TypeConstraint<T>("T"),  \
                          ApplyAdagradOp<T>)
RECURSIVE_TF_REGISTER(float);
RECURSIVE_TF_REGISTER(double);
#undef RECURSIVE_TF_REGISTER

}  // namespace
}  // namespace recursive_tf
