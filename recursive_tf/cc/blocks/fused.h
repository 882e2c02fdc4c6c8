#ifndef RECURSIVE_TF_CC_BLOCKS_FUSED_H_
#define RECURSIVE_TF_CC_BLOCKS_FUSED_H_

#include "recursive_tf/cc/blocks/block_graph.h"

namespace recursive_tf {

// Returns the same graph without what no output needs, with instructions that
// do the work of two: the sum before an activation, a product that is added.
BlockGraph Fused(const BlockGraph& graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_FUSED_H_
