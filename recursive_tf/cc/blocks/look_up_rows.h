#ifndef RECURSIVE_TF_CC_BLOCKS_LOOK_UP_ROWS_H_
#define RECURSIVE_TF_CC_BLOCKS_LOOK_UP_ROWS_H_

#include <cstdint>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Sets `num_rows` rows of a phase, of so many columns: each is the one of a
// table that a whole number selects, which the block computed. Returns false if
// a number is out of range; then some rows are not set.
template <typename T>
bool LookUpRows(const PlacedRows<T>& placed, const LookUpStep& step,
                int64_t width, int64_t num_rows, Team* team);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_LOOK_UP_ROWS_H_
