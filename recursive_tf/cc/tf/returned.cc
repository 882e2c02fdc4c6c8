#include "recursive_tf/cc/tf/returned.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

absl::Status Unlike(const std::string& what, const Kind& kind,
                    const tf::Tensor& gradient) {
  return absl::InvalidArgumentError(absl::StrCat(
      what, " has the dtype ", tf::DataTypeString(kind.dtype),
      " and the shape ", kind.shape.DebugString(),
      ", but its gradient came with the dtype ",
      tf::DataTypeString(gradient.dtype()), " and the shape ",
      gradient.shape().DebugString(),
      ". A gradient is not broadcast: give output_gradients= or grad_ys= of "
      "the same dtype and shape."));
}

bool IsLike(const Kind& kind, const tf::Tensor& gradient) {
  return gradient.dtype() == kind.dtype && gradient.shape() == kind.shape;
}

absl::Status NotThere(const std::string& subgraph) {
  return absl::InvalidArgumentError(
      absl::StrCat("SubGraph '", subgraph,
                   "' got gradients of other outputs or tables than its call "
                   "returned. Save the model again."));
}

}  // namespace

bool CanHaveGradient(const Kind& kind) {
  return tf::DataTypeIsFloating(kind.dtype) ||
         tf::DataTypeIsComplex(kind.dtype);
}

absl::Status Returned::CheckGradientOfOutput(size_t index,
                                             const tf::Tensor& gradient) const {
  if (index >= outputs.size() || !CanHaveGradient(outputs[index])) {
    return NotThere(*subgraph);
  }
  if (IsLike(outputs[index], gradient)) return absl::OkStatus();
  return Unlike(absl::StrCat("SubGraph '", *subgraph, "': output ", index),
                outputs[index], gradient);
}

absl::Status Returned::CheckGradientOfTable(size_t index,
                                            const tf::Tensor& gradient) const {
  if (index >= tables.size() || !CanHaveGradient(tables[index])) {
    return NotThere(*subgraph);
  }
  if (IsLike(tables[index], gradient)) return absl::OkStatus();
  return Unlike(absl::StrCat("SubGraph '", *subgraph, "': the table of push '",
                             (*push_names)[index], "'"),
                tables[index], gradient);
}

absl::Status Returned::CheckGradients(
    const std::vector<tf::Tensor>& of_outputs,
    const std::vector<tf::Tensor>& of_tables) const {
  size_t next = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!CanHaveGradient(outputs[i])) continue;
    if (next == of_outputs.size()) return NotThere(*subgraph);
    TF_RETURN_IF_ERROR(CheckGradientOfOutput(i, of_outputs[next++]));
  }
  if (next != of_outputs.size() || of_tables.size() != tables.size()) {
    return NotThere(*subgraph);
  }
  for (size_t i = 0; i < tables.size(); ++i) {
    if (!CanHaveGradient(tables[i])) continue;
    TF_RETURN_IF_ERROR(CheckGradientOfTable(i, of_tables[i]));
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
