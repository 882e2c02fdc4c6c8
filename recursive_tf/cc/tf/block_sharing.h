#ifndef RECURSIVE_TF_CC_TF_BLOCK_SHARING_H_
#define RECURSIVE_TF_CC_TF_BLOCK_SHARING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Returns which rows are the same in all that a block computes of them, given
// `arguments` of which they are kept; none if that is not known of whole
// numbers alone. REQUIRES: all rows are whole numbers, as many of each
// argument, at least one.
std::optional<EqualRows> EqualRowsOf(
    const ReadBlock& block, const std::vector<RowBatch>& rows,
    const std::vector<int32_t>& kept,
    std::vector<const tensorflow::Tensor*> invariants);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_SHARING_H_
