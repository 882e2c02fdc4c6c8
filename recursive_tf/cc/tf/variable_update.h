#ifndef RECURSIVE_TF_CC_TF_VARIABLE_UPDATE_H_
#define RECURSIVE_TF_CC_TF_VARIABLE_UPDATE_H_

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/update_rule.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// How many inputs of each kind an op that updates variables has. With S slots,
// e.g. moments, its inputs are: N variables, S times their N slots, their N
// gradients, their N learning rates; M tables, S times their M slots, M times
// rows that have gradients, their M indices, M learning rates; others.
struct UpdateCounts {
  // How many there are before the others, with so many slots.
  int NumInputs(int num_slots) const {
    return num_variables * (3 + num_slots) + num_tables * (4 + num_slots);
  }

  int num_variables = 0;
  int num_tables = 0;
};

// Updates the variables and tables that the inputs of the op name, in one go:
// TensorFlow's kernels take one variable each, and want each row of a table
// once. T is the dtype of all of them.
template <typename T>
absl::Status UpdateVariables(const UpdateCounts& counts,
                             const UpdateRule<T>& rule,
                             tensorflow::OpKernelContext* ctx);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_VARIABLE_UPDATE_H_
