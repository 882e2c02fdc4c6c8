#include <cstdint>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "recursive_tf/cc/tf/inline_kernel.h"
#include "recursive_tf/cc/tf/update_rule.h"
#include "recursive_tf/cc/tf/variable_update.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class UpdateOp : public InlineKernel {
 public:
  explicit UpdateOp(tf::OpKernelConstruction* ctx) : InlineKernel(ctx) {
    OP_REQUIRES_OK(ctx, CheckChosenSet());
    OP_REQUIRES_OK(ctx, ctx->GetAttr("N", &counts_.num_variables));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("M", &counts_.num_tables));
  }

 protected:
  const UpdateCounts& counts() const { return counts_; }

 private:
  UpdateCounts counts_;
};

template <typename T>
class ApplyAdagradOp : public UpdateOp {
 public:
  using UpdateOp::UpdateOp;

 private:
  void ComputeInline(tf::OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx, UpdateVariables(counts(), AdagradRule<T>(), ctx));
  }
};

template <typename T>
class ApplyAdamOp : public UpdateOp {
 public:
  using UpdateOp::UpdateOp;

 private:
  void ComputeInline(tf::OpKernelContext* ctx) override {
    const int first = counts().NumInputs(/*num_slots=*/2);
    for (int i = first; i < ctx->num_inputs(); ++i) {
      OP_REQUIRES(ctx, ctx->input(i).NumElements() == 1,
                  absl::InvalidArgumentError(
                      "beta_1, beta_2, epsilon and step are one number each."));
    }
    const auto number = [&](int i) {
      return ctx->input(first + i).template flat<T>()(0);
    };
    const int64_t step = ctx->input(first + 3).flat<int64_t>()(0);
    const UpdateRule<T> rule =
        AdamRule<T>(number(0), number(1), number(2), step);
    OP_REQUIRES_OK(ctx, UpdateVariables(counts(), rule, ctx));
  }
};

#define RECURSIVE_TF_REGISTER(T)                        \
  REGISTER_KERNEL_BUILDER(Name("RecursiveApplyAdagrad") \
                              .Device(tf::DEVICE_CPU)   \
                              .TypeConstraint<T>("T"),  \
                          ApplyAdagradOp<T>);           \
  REGISTER_KERNEL_BUILDER(Name("RecursiveApplyAdam")    \
                              .Device(tf::DEVICE_CPU)   \
                              .TypeConstraint<T>("T"),  \
                          ApplyAdamOp<T>)
RECURSIVE_TF_REGISTER(float);
RECURSIVE_TF_REGISTER(double);
#undef RECURSIVE_TF_REGISTER

}  // namespace
}  // namespace recursive_tf
