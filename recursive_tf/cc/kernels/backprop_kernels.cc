// What a region of a forward body keeps for its gradient, and the reading of it
// (Jeong et al. 2018, section 5, "Backpropagation cache").

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/backprop/cache_key.h"
#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/tf/backward_run.h"
#include "recursive_tf/cc/tf/forward_run.h"
#include "recursive_tf/cc/tf/handles.h"
#include "recursive_tf/cc/tf/planted_fault.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

class KeepOp : public tf::OpKernel {
 public:
  explicit KeepOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("region", &region_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const ActivationHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &handle));
    OP_REQUIRES_OK(ctx, PlantedFault(Faults::Kind::kCachePut));
    std::vector<tf::Tensor> values;
    values.reserve(ctx->num_inputs() - 1);
    for (int i = 1; i < ctx->num_inputs(); ++i) {
      values.push_back(ctx->input(i));
    }
    ForwardRecord& record = *handle->run->record;
    record.activations.Hold(record.bytes.Add(values));
    OP_REQUIRES(ctx,
                record.cache.Put(CacheKey::Of(*handle->activation, region_),
                                 std::move(values)),
                absl::InternalError("A region of an invocation ran twice."));
  }

 private:
  int32_t region_ = 0;
};

class RecallOp : public tf::OpKernel {
 public:
  explicit RecallOp(tf::OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("region", &region_));
  }

  void Compute(tf::OpKernelContext* ctx) override {
    const GradientHandle* handle = nullptr;
    OP_REQUIRES_OK(ctx, GetCaller(ctx, &handle));
    OP_REQUIRES_OK(ctx, PlantedFault(Faults::Kind::kCacheGet));
    const std::vector<tf::Tensor>* values = handle->run->forward->cache.Get(
        CacheKey::Of(*handle->activation, region_));
    OP_REQUIRES(ctx,
                values != nullptr &&
                    values->size() == static_cast<size_t>(ctx->num_outputs()),
                absl::InternalError(
                    "The forward call kept no values for its gradient."));
    for (size_t i = 0; i < values->size(); ++i) {
      ctx->set_output(static_cast<int>(i), (*values)[i]);
    }
  }

 private:
  int32_t region_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("RecursiveKeep").Device(tf::DEVICE_CPU), KeepOp);
REGISTER_KERNEL_BUILDER(Name("RecursiveRecall").Device(tf::DEVICE_CPU),
                        RecallOp);

}  // namespace
}  // namespace recursive_tf
