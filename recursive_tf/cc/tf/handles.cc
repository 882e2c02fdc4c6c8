#include "recursive_tf/cc/tf/handles.h"

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_op_registry.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using tensorflow::TypeIndex;  // For the macros below.

// TensorFlow takes a handle for a value with a gradient, and makes zeros of it
// and sums of these. They name nothing.
template <typename Handle>
absl::Status NoHandle(tf::OpKernelContext* /*ctx*/, const Handle& /*like*/,
                      Handle* zero) {
  *zero = Handle();
  return absl::OkStatus();
}

template <typename Handle>
absl::Status SumOfNoHandles(tf::OpKernelContext* /*ctx*/, const Handle& /*a*/,
                            const Handle& /*b*/, Handle* sum) {
  *sum = Handle();
  return absl::OkStatus();
}

#define RECURSIVE_TF_REGISTER_HANDLE(Handle)                                \
  REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(tf::ZEROS_LIKE_VARIANT_UNARY_OP, \
                                           tf::DEVICE_CPU, Handle,          \
                                           NoHandle<Handle>);               \
  REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tf::ADD_VARIANT_BINARY_OP,      \
                                            tf::DEVICE_CPU, Handle,         \
                                            SumOfNoHandles<Handle>)
RECURSIVE_TF_REGISTER_HANDLE(RootHandle);
RECURSIVE_TF_REGISTER_HANDLE(ActivationHandle);
RECURSIVE_TF_REGISTER_HANDLE(MapHandle);
RECURSIVE_TF_REGISTER_HANDLE(BatchedHandle);
#undef RECURSIVE_TF_REGISTER_HANDLE

}  // namespace

absl::Status NoSuchHandle() {
  return absl::InvalidArgumentError(
      "The activation handle is not one of a call of this process. Call the "
      "SubGraph itself; its ops do not work outside of its bodies.");
}

absl::Status CheckNamesNoCall(const tf::Tensor& result) {
  if (result.dtype() != tf::DT_VARIANT) return absl::OkStatus();
  const auto* const items = static_cast<const tf::Variant*>(result.data());
  for (int64_t i = 0; i < result.NumElements(); ++i) {
    if (items[i].get<ActivationHandle>() != nullptr ||
        items[i].get<GradientHandle>() != nullptr ||
        items[i].get<MapHandle>() != nullptr) {
      return absl::InvalidArgumentError(
          "A result of the call is the handle of an invocation, which ends "
          "with it. Trace or save the model again.");
    }
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
