#ifndef RECURSIVE_TF_TESTS_CC_TF_TENSORS_H_
#define RECURSIVE_TF_TESTS_CC_TF_TENSORS_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Returns a tensor of a shape, with its elements in order.
template <typename T>
tensorflow::Tensor TensorOf(const tensorflow::TensorShape& shape,
                            const std::vector<T>& elements) {
  tensorflow::Tensor tensor(tensorflow::DataTypeToEnum<T>::value, shape);
  EXPECT_EQ(tensor.NumElements(), static_cast<int64_t>(elements.size()));
  std::copy(elements.begin(), elements.end(), tensor.flat<T>().data());
  return tensor;
}

// Returns a vector, e.g. rows without dimensions.
template <typename T>
tensorflow::Tensor VectorOf(const std::vector<T>& elements) {
  return TensorOf({static_cast<int64_t>(elements.size())}, elements);
}

// Returns a tensor of floats, all of them one.
inline tensorflow::Tensor OnesOf(const tensorflow::TensorShape& shape) {
  return TensorOf(shape, std::vector<float>(shape.num_elements(), 1));
}

// Returns a tensor of floats: 0, 1, 2 and so on.
inline tensorflow::Tensor CountOf(const tensorflow::TensorShape& shape) {
  std::vector<float> numbers(shape.num_elements());
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  return TensorOf(shape, numbers);
}

// Returns a tensor of large and small floats: in another order, their sums
// would be others.
inline tensorflow::Tensor LargeAndSmallOf(
    const tensorflow::TensorShape& shape) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    numbers.push_back(static_cast<float>(i % 7) * (i % 3 == 0 ? 1e6F : 1e-3F));
  }
  return TensorOf(shape, numbers);
}

// Returns the elements of a tensor, in order.
template <typename T>
std::vector<T> ElementsOf(const tensorflow::Tensor& tensor) {
  const auto flat = tensor.flat<T>();
  return std::vector<T>(flat.data(), flat.data() + flat.size());
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_TESTS_CC_TF_TENSORS_H_
