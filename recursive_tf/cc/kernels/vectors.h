#ifndef RECURSIVE_TF_CC_KERNELS_VECTORS_H_
#define RECURSIVE_TF_CC_KERNELS_VECTORS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Returns a tensor of rank 1.
template <typename T>
tensorflow::Tensor VectorOf(const std::vector<T>& values) {
  tensorflow::Tensor tensor(tensorflow::DataTypeToEnum<T>::value,
                            {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.vec<T>().data());
  return tensor;
}

inline tensorflow::Tensor VectorOf(const std::vector<std::string>& texts) {
  tensorflow::Tensor tensor(tensorflow::DT_STRING,
                            {static_cast<int64_t>(texts.size())});
  std::copy(texts.begin(), texts.end(),
            tensor.vec<tensorflow::tstring>().data());
  return tensor;
}

template <typename T>
tensorflow::Tensor ScalarOf(const T& value) {
  tensorflow::Tensor tensor(tensorflow::DataTypeToEnum<T>::value, {});
  tensor.scalar<T>()() = value;
  return tensor;
}

// Sets `*values` to an input, which must be of rank 1. REQUIRES: it is of T.
template <typename T>
absl::Status GetVector(tensorflow::OpKernelContext* ctx, int index,
                       std::vector<T>* values) {
  const tensorflow::Tensor& tensor = ctx->input(index);
  if (tensor.dims() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("Input ", index, " is not a vector, but of shape ",
                     tensor.shape().DebugString(), "."));
  }
  const auto vector = tensor.vec<T>();
  values->assign(vector.data(), vector.data() + vector.size());
  return absl::OkStatus();
}

// Sets `*value` to an input, which must be a scalar. REQUIRES: it is of T.
template <typename T, typename Value>
absl::Status GetScalar(tensorflow::OpKernelContext* ctx, int index,
                       Value* value) {
  const tensorflow::Tensor& tensor = ctx->input(index);
  if (tensor.dims() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Input ", index, " is not a scalar, but of shape ",
                     tensor.shape().DebugString(), "."));
  }
  *value = Value(tensor.scalar<T>()());
  return absl::OkStatus();
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_VECTORS_H_
