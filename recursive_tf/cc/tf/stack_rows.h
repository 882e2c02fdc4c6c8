#ifndef RECURSIVE_TF_CC_TF_STACK_ROWS_H_
#define RECURSIVE_TF_CC_TF_STACK_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Sets `*result` to a copy of row `index` of `rows`. A copy, because a slice of
// a tensor may be unaligned, and kernels of Eigen abort on that.
absl::Status CopyRow(const tensorflow::Tensor& rows, int64_t index,
                     tensorflow::Tensor* result);

// Sets `*result` to the tensor whose row `i` is `rows[i]`. `what` names the
// value in errors.
// REQUIRES: there are rows.
absl::Status StackRows(absl::Span<const tensorflow::Tensor> rows,
                       const std::string& what, tensorflow::Tensor* result);

// Sets `*result` to a tensor of no rows, of what is known of the shape of one.
absl::Status StackNoRows(tensorflow::DataType dtype,
                         const tensorflow::PartialTensorShape& row_shape,
                         const std::string& what, tensorflow::Tensor* result);

// Sets `*result` to `parts` one after the other along the first dimension. All
// need one dtype, and one shape but for the rows.
// Where there are none, it has no rows, and `shape` tells the other dimensions.
absl::Status ConcatRows(absl::Span<const tensorflow::Tensor> parts,
                        tensorflow::DataType dtype,
                        const tensorflow::PartialTensorShape& shape,
                        tensorflow::Tensor* result);

// Adds `value` to `*total`, in its memory if nothing else uses it. Both must
// have one numeric dtype, and one shape.
absl::Status AddTensors(const tensorflow::Tensor& value,
                        tensorflow::Tensor* total);

// The same, by a team where the tensors are large.
absl::Status AddTensorsBy(Team* team, const tensorflow::Tensor& value,
                          tensorflow::Tensor* total);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_STACK_ROWS_H_
