#ifndef RECURSIVE_TF_CC_TF_SLICES_H_
#define RECURSIVE_TF_CC_TF_SLICES_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Adds up the slices of each row of a table, in the order of the slices, so
// that each row has one. `*values` has the shape [slices, ...]; `*indices`,
// int32 or int64, says which row each slice is of.
absl::Status AddUpSlices(tensorflow::Tensor* values,
                         tensorflow::Tensor* indices);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SLICES_H_
