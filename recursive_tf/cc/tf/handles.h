#ifndef RECURSIVE_TF_CC_TF_HANDLES_H_
#define RECURSIVE_TF_CC_TF_HANDLES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_tensor_data.h"

namespace recursive_tf {

class ForwardRun;
struct BackwardRun;
struct BatchedRecord;
struct ForwardRecord;
struct WaitVertex;

// Handles are scalar DT_VARIANT tensors, because TensorFlow carries these like
// any value, also through loops and their gradients. A process writes none of
// them down: they name what lives in this process only.
struct UnserializableVariant {
  void Encode(tensorflow::VariantTensorData* /*data*/) const {}
  bool Decode(const tensorflow::VariantTensorData& /*data*/) { return false; }
};

// Names an invocation to the ops of a forward body: the hidden first argument
// of every procedure, and an output of every inner call. It owns nothing: a
// body runs within its root call, and a kept handle is read for its activation
// only.
struct ActivationHandle : UnserializableVariant {
  ForwardRun* run = nullptr;
  const Activation* activation = nullptr;
  // The innermost shared invocation that it is in, or null.
  WaitVertex* within = nullptr;

  std::string TypeName() const { return "recursive_tf::ActivationHandle"; }
};

// Names the invocations of a map in a body to its gradient, one a row. The
// arguments of a map over no rows say what its gradient looks like.
struct MapHandle : UnserializableVariant {
  std::vector<const Activation*> activations;
  std::vector<tensorflow::Tensor> no_rows;

  std::string TypeName() const { return "recursive_tf::MapHandle"; }
};

// The same as ActivationHandle for the ops of a gradient body.
struct GradientHandle : UnserializableVariant {
  BackwardRun* run = nullptr;
  const Activation* activation = nullptr;

  std::string TypeName() const { return "recursive_tf::GradientHandle"; }
};

// The output of a root call: keeps what the gradient reads alive.
struct RootHandle : UnserializableVariant {
  std::shared_ptr<const ForwardRecord> record;

  std::string TypeName() const { return "recursive_tf::RootHandle"; }
};

// The same of a root call in the batched executor.
struct BatchedHandle : UnserializableVariant {
  std::shared_ptr<BatchedRecord> record;

  std::string TypeName() const { return "recursive_tf::BatchedHandle"; }
};

template <typename Handle>
tensorflow::Tensor HandleTensor(Handle handle) {
  tensorflow::Tensor tensor(tensorflow::DT_VARIANT, tensorflow::TensorShape());
  tensor.scalar<tensorflow::Variant>()() = std::move(handle);
  return tensor;
}

// What an op says that got something else.
absl::Status NoSuchHandle();

// Sets `*handle` to the handle in input `index`, which stays the tensor's.
template <typename Handle>
absl::Status GetHandle(tensorflow::OpKernelContext* ctx, int index,
                       const Handle** handle) {
  const tensorflow::Tensor& tensor = ctx->input(index);
  *handle =
      tensor.dtype() == tensorflow::DT_VARIANT && tensor.NumElements() == 1
          ? tensor.scalar<tensorflow::Variant>()().get<Handle>()
          : nullptr;
  return *handle != nullptr ? absl::OkStatus() : NoSuchHandle();
}

// The same of input 0 for an op that runs within the invocation which that
// names. A handle of zeros names none, nor does one of a call that is not kept.
template <typename Handle>
absl::Status GetCaller(tensorflow::OpKernelContext* ctx,
                       const Handle** handle) {
  const absl::Status status = GetHandle(ctx, 0, handle);
  if (!status.ok()) return status;
  const bool names =
      (*handle)->run != nullptr && (*handle)->activation != nullptr;
  return names ? absl::OkStatus() : NoSuchHandle();
}

// Returns an error if a result of a root call names one of its invocations,
// which ends with it. No traced body returns such a thing, but a file may.
absl::Status CheckNamesNoCall(const tensorflow::Tensor& result);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_HANDLES_H_
