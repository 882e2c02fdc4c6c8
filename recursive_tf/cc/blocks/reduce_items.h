#ifndef RECURSIVE_TF_CC_BLOCKS_REDUCE_ITEMS_H_
#define RECURSIVE_TF_CC_BLOCKS_REDUCE_ITEMS_H_

#include <cstdint>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Sets `num_rows` rows of a phase: each is the sum, or the largest or least
// number, of the items that it owns.
template <typename T>
void ReduceItems(const Kernels<T>& kernels, const PlacedRows<T>& placed,
                 const ItemsStep& step, int64_t width, int64_t num_rows,
                 Team* team);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_REDUCE_ITEMS_H_
