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

REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(tf::ZEROS_LIKE_VARIANT_UNARY_OP,
                                         tf::DEVICE_CPU, RootHandle,
                                         NoHandle<RootHandle>);
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tf::ADD_VARIANT_BINARY_OP,
                                          tf::DEVICE_CPU, RootHandle,
                                          SumOfNoHandles<RootHandle>);
REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(tf::ZEROS_LIKE_VARIANT_UNARY_OP,
                                         tf::DEVICE_CPU, ActivationHandle,
                                         NoHandle<ActivationHandle>);
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tf::ADD_VARIANT_BINARY_OP,
                                          tf::DEVICE_CPU, ActivationHandle,
                                          SumOfNoHandles<ActivationHandle>);

}  // namespace
}  // namespace recursive_tf
