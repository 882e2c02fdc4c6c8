#ifndef RECURSIVE_TF_CC_KERNELS_BATCHED_KERNEL_H_
#define RECURSIVE_TF_CC_KERNELS_BATCHED_KERNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "recursive_tf/cc/tf/inline_kernel.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

// From how many rows on a transposed matrix pays: for what runs launch after
// launch, and for what runs once a root call. Measured with matrices of 300 x
// 750: transposing takes as long as a product of 40 rows, and saves a quarter.
constexpr int64_t kManyRows = 16;
constexpr int64_t kManyRowsOnce = 256;

// What the two ops have in common: the blocks, made at the first call and
// released with the kernel.
//
// Thread safety: every method may be called from any thread.
class BatchedKernel : public InlineKernel {
 public:
  explicit BatchedKernel(tensorflow::OpKernelConstruction* ctx)
      : InlineKernel(ctx) {
    OP_REQUIRES_OK(ctx, CheckChosenSet());
    OP_REQUIRES_OK(ctx, ctx->GetAttr("mapped", &mapped_));
  }

 protected:
  absl::Status GetBlocks(tensorflow::OpKernelContext* ctx,
                         const Blocks** blocks) {
    MutexLock lock(&mu_);
    if (blocks_ == nullptr) {
      TF_RETURN_IF_ERROR(
          Bind(*ctx->function_library()->GetFunctionLibraryDefinition()));
      TF_RETURN_IF_ERROR(
          Blocks::Create(block_specs_, ctx->function_library(), &blocks_));
    }
    *blocks = blocks_.get();
    return absl::OkStatus();
  }

  bool mapped() const { return mapped_; }

  std::vector<BlockSpec> block_specs_;

 private:
  // Checks that the attributes and the functions fit each other.
  virtual absl::Status Bind(
      const tensorflow::FunctionLibraryDefinition& library) const = 0;

  bool mapped_ = false;

  Mutex mu_;
  std::unique_ptr<Blocks> blocks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_BATCHED_KERNEL_H_
