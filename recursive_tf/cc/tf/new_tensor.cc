#include "recursive_tf/cc/tf/new_tensor.h"

#include <cstdint>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "recursive_tf/cc/base/faults.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

bool HasMemory(const tf::Tensor& tensor) {
  return tensor.IsInitialized() &&
         !Faults::Global().Strikes(Faults::Kind::kAllocation);
}

}  // namespace

absl::Status NewTensor(tf::DataType dtype, absl::Span<const int64_t> sizes,
                       tf::Tensor* made) {
  tf::TensorShape shape;
  TF_RETURN_IF_ERROR(tf::TensorShape::BuildTensorShape(sizes, &shape));
  return NewTensorOfShape(dtype, shape, made);
}

absl::Status NewTensorOfShape(tf::DataType dtype, const tf::TensorShape& shape,
                              tf::Tensor* made) {
  *made = tf::Tensor(dtype, shape);
  if (HasMemory(*made)) return absl::OkStatus();
  *made = tf::Tensor();
  return absl::ResourceExhaustedError(
      absl::StrCat("there is no memory for a ", tf::DataTypeString(dtype),
                   " of the shape ", shape.DebugString()));
}

tf::Tensor NewTensorOrThrow(tf::DataType dtype, const tf::TensorShape& shape) {
  tf::Tensor made(dtype, shape);
  if (!HasMemory(made)) throw std::bad_alloc();
  return made;
}

absl::Status WithSizes(const tf::Tensor& tensor,
                       absl::Span<const int64_t> sizes, tf::Tensor* same) {
  tf::TensorShape shape;
  TF_RETURN_IF_ERROR(tf::TensorShape::BuildTensorShape(sizes, &shape));
  if (same->CopyFrom(tensor, shape)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("a tensor of the shape ", tensor.shape().DebugString(),
                   " was to get the shape ", shape.DebugString(),
                   ". That is a fault of recursive_tf; options=rtf.Options("
                   "blocks=\"tensorflow\") does without what has it"));
}

}  // namespace recursive_tf
