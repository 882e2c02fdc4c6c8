#ifndef RECURSIVE_TF_CC_TF_INLINE_KERNEL_H_
#define RECURSIVE_TF_CC_TF_INLINE_KERNEL_H_

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/profiler/lib/traceme.h"

namespace recursive_tf {

// A kernel that has a team for its work, and runs where the executor is.
//
// The executor hands a kernel that it thinks expensive to another thread if it
// has anything else to run. That thread is woken first, and then stands in the
// way of the team: there are no more processors than the team has threads.
class InlineKernel : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  bool IsExpensive() final { return false; }

  // The executor traces no kernel that is cheap.
  void Compute(tensorflow::OpKernelContext* ctx) final {
    const tsl::profiler::TraceMe trace(
        [&] { return TraceString(*ctx, /*verbose=*/false); });
    ComputeInline(ctx);
  }

 private:
  virtual void ComputeInline(tensorflow::OpKernelContext* ctx) = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_INLINE_KERNEL_H_
