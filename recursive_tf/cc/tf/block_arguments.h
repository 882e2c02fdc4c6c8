#ifndef RECURSIVE_TF_CC_TF_BLOCK_ARGUMENTS_H_
#define RECURSIVE_TF_CC_TF_BLOCK_ARGUMENTS_H_

#include <vector>

#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// For which rows and invariants a block is compiled: their dtypes and shapes.

// Returns those of rows, then those of invariants; none if rows have no shape.
// Of a variable the shape is that of what it holds.
std::vector<BlockArgument> ArgumentsOf(
    const BatchedStep& step, const std::vector<RowBatch>& rows,
    const std::vector<const tensorflow::Tensor*>& invariants);

// Returns whether rows are the first of some arguments. Launches ask it, so it
// takes no memory.
bool AreFirst(const std::vector<RowBatch>& rows,
              const std::vector<BlockArgument>& arguments);

// Returns whether ArgumentsOf are these, without taking memory.
bool AreArguments(const BatchedStep& step, const std::vector<RowBatch>& rows,
                  const std::vector<const tensorflow::Tensor*>& invariants,
                  const std::vector<BlockArgument>& arguments);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_ARGUMENTS_H_
