#ifndef RECURSIVE_TF_CC_TF_ADAGRAD_UPDATE_H_
#define RECURSIVE_TF_CC_TF_ADAGRAD_UPDATE_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// What the attributes of RecursiveApplyAdagrad say.
struct AdagradSpec {
  int num_variables = 0;
  int num_tables = 0;
};

// Updates the variables and tables that the inputs of the op name, in one go:
// TensorFlow's kernels take one variable each, and want each row of a table
// once. T is the dtype of all of them.
template <typename T>
absl::Status UpdateByAdagrad(const AdagradSpec& spec,
                             tensorflow::OpKernelContext* ctx);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ADAGRAD_UPDATE_H_
