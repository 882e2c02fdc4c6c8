#include "recursive_tf/cc/tf/block_arguments.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

std::vector<int64_t> SizesOf(const tf::TensorShape& shape, int first_dim) {
  std::vector<int64_t> sizes;
  for (int i = first_dim; i < shape.dims(); ++i) {
    sizes.push_back(shape.dim_size(i));
  }
  return sizes;
}

bool HasSizes(const tf::TensorShape& shape, int first_dim,
              const std::vector<int64_t>& sizes) {
  const auto num_dims = static_cast<int>(sizes.size());
  if (shape.dims() != first_dim + num_dims) return false;
  for (int i = 0; i < num_dims; ++i) {
    if (sizes[i] >= 0 && shape.dim_size(first_dim + i) != sizes[i]) {
      return false;
    }
  }
  return true;
}

// Calls `visit` with the shape of an invariant; of a variable with that of what
// it holds, or of a scalar if it holds nothing.
template <typename Visit>
auto WithShape(const BatchedStep& step, const tf::Tensor& invariant,
               const Visit& visit) {
  if (invariant.dtype() != tf::DT_RESOURCE) return visit(invariant.shape());
  tf::core::RefCountPtr<tf::Var> variable;
  if (!tf::LookupResource(step.root(), invariant.flat<tf::ResourceHandle>()(0),
                          &variable)
           .ok()) {
    return visit(tf::TensorShape());
  }
  const tf::tf_shared_lock lock(*variable->mu());
  return visit(variable->tensor()->shape());
}

BlockArgument ArgumentOf(const BatchedStep& step, const tf::Tensor& invariant) {
  BlockArgument argument{
      invariant.dtype(),
      WithShape(step, invariant, [](const tf::TensorShape& shape) {
        return SizesOf(shape, 0);
      })};
  // How much can be looked up is nothing to a program.
  if (argument.dtype != tf::DT_FLOAT && argument.dtype != tf::DT_DOUBLE &&
      !argument.shape.empty()) {
    argument.shape.front() = -1;
  }
  return argument;
}

bool IsRows(const RowBatch& rows, const BlockArgument& argument) {
  return rows.dtype() == argument.dtype &&
         HasSizes(rows.shape(), 1, argument.shape) &&
         rows.HasPartWidths(argument.widths);
}

bool IsInvariant(const BatchedStep& step, const tf::Tensor& invariant,
                 const BlockArgument& argument) {
  return invariant.dtype() == argument.dtype &&
         WithShape(step, invariant, [&](const tf::TensorShape& shape) {
           return HasSizes(shape, 0, argument.shape);
         });
}

}  // namespace

std::vector<BlockArgument> ArgumentsOf(
    const BatchedStep& step, const std::vector<RowBatch>& rows,
    const std::vector<const tf::Tensor*>& invariants) {
  std::vector<BlockArgument> arguments;
  arguments.reserve(rows.size() + invariants.size());
  for (const RowBatch& each : rows) {
    if (each.shape().dims() == 0) return {};
    arguments.push_back(
        {each.dtype(), SizesOf(each.shape(), 1), each.PartWidths()});
  }
  for (const tf::Tensor* tensor : invariants) {
    arguments.push_back(ArgumentOf(step, *tensor));
  }
  return arguments;
}

bool AreFirst(const std::vector<RowBatch>& rows,
              const std::vector<BlockArgument>& arguments) {
  return std::equal(rows.begin(), rows.end(), arguments.begin(), IsRows);
}

bool AreArguments(const BatchedStep& step, const std::vector<RowBatch>& rows,
                  const std::vector<const tf::Tensor*>& invariants,
                  const std::vector<BlockArgument>& arguments) {
  return AreFirst(rows, arguments) &&
         std::equal(invariants.begin(), invariants.end(),
                    arguments.begin() + static_cast<int64_t>(rows.size()),
                    [&](const tf::Tensor* tensor, const BlockArgument& given) {
                      return IsInvariant(step, *tensor, given);
                    });
}

}  // namespace recursive_tf
