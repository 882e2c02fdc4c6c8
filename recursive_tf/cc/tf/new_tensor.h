#ifndef RECURSIVE_TF_CC_TF_NEW_TENSOR_H_
#define RECURSIVE_TF_CC_TF_NEW_TENSOR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Tensors of sizes that are only known while a program runs. TensorFlow's own
// constructors end the process if sizes are none of a tensor, and give a tensor
// without memory if there is not enough.

// Sets `*made` to a tensor of these sizes, not set.
absl::Status NewTensor(tensorflow::DataType dtype,
                       absl::Span<const int64_t> sizes,
                       tensorflow::Tensor* made);
absl::Status NewTensorOfShape(tensorflow::DataType dtype,
                              const tensorflow::TensorShape& shape,
                              tensorflow::Tensor* made);

// Returns a tensor, not set. Throws std::bad_alloc where there is no memory for
// it: for runs of the batched executor, which catch it (out_of_memory.h).
tensorflow::Tensor NewTensorOrThrow(tensorflow::DataType dtype,
                                    const tensorflow::TensorShape& shape);

// Sets `*same` to the elements of a tensor, in other sizes.
absl::Status WithSizes(const tensorflow::Tensor& tensor,
                       absl::Span<const int64_t> sizes,
                       tensorflow::Tensor* same);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_NEW_TENSOR_H_
