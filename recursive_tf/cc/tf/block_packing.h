#ifndef RECURSIVE_TF_CC_TF_BLOCK_PACKING_H_
#define RECURSIVE_TF_CC_TF_BLOCK_PACKING_H_

#include <memory>
#include <vector>

#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Returns what a block program takes beside rows; its matrices are still to be
// packed. T is the type of the block's numbers. `program` must outlive it;
// `invariants`, without literals, must until they are packed.
template <typename T>
std::shared_ptr<BlockInvariants<T>> InvariantsOf(
    const ReadBlock& block, const BlockProgram& program,
    const std::vector<const tensorflow::Tensor*>& invariants, int num_threads);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_PACKING_H_
