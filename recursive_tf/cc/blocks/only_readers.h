#ifndef RECURSIVE_TF_CC_BLOCKS_ONLY_READERS_H_
#define RECURSIVE_TF_CC_BLOCKS_ONLY_READERS_H_

#include "recursive_tf/cc/blocks/block_program.h"

namespace recursive_tf {

// Says of the products of a program which of them are columns of one output
// alone, that nothing else reads: ProductStep::only_of_output.
void FindOnlyReaders(BlockProgram* program);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ONLY_READERS_H_
