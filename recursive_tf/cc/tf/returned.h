#ifndef RECURSIVE_TF_CC_TF_RETURNED_H_
#define RECURSIVE_TF_CC_TF_RETURNED_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// What a tensor is like, without its values.
struct Kind {
  tensorflow::DataType dtype = tensorflow::DT_INVALID;
  tensorflow::TensorShape shape;
};

// Says the same as is_trainable in recursive_tf/python/program/trainable.py.
bool CanHaveGradient(const Kind& kind);

// What a root call returned, as its gradient has to know it. The gradient of an
// output or a table comes from outside: it must be of the same kind, because
// rows of it are read where rows of that were written.
struct Returned {
  // For people; both outlive the kernel.
  std::shared_ptr<const std::string> subgraph;
  std::shared_ptr<const std::vector<std::string>> push_names;
  std::vector<Kind> outputs;
  std::vector<Kind> tables;

  // Returns an error unless `gradient` is one of that output, or table.
  absl::Status CheckGradientOfOutput(size_t index,
                                     const tensorflow::Tensor& gradient) const;
  absl::Status CheckGradientOfTable(size_t index,
                                    const tensorflow::Tensor& gradient) const;

  // The same for the gradients of all outputs that can have one, in order, and
  // of all tables.
  absl::Status CheckGradients(
      const std::vector<tensorflow::Tensor>& of_outputs,
      const std::vector<tensorflow::Tensor>& of_tables) const;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_RETURNED_H_
