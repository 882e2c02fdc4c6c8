#include "recursive_tf/cc/tf/handles.h"

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
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
}  // namespace recursive_tf
