#ifndef RECURSIVE_TF_CC_TF_SLICES_H_
#define RECURSIVE_TF_CC_TF_SLICES_H_

#include <functional>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Adds up the slices of each row of a table, in the order of the slices, so
// that each row has one. `*values` has the shape [slices, ...]; `*indices`,
// int32 or int64, says which row each slice is of. `make` makes a tensor, not
// set: who calls knows what to say if there is no memory. The threads of `team`
// share the rows, if there is one.
using MakeTensor = std::function<absl::Status(tensorflow::DataType dtype,
                                              const tensorflow::TensorShape&,
                                              tensorflow::Tensor* made)>;
absl::Status AddUpSlices(const MakeTensor& make, Team* team,
                         tensorflow::Tensor* values,
                         tensorflow::Tensor* indices);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SLICES_H_
