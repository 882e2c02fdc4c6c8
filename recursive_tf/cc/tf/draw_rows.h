#ifndef RECURSIVE_TF_CC_TF_DRAW_ROWS_H_
#define RECURSIVE_TF_CC_TF_DRAW_ROWS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/block_reader.h"

namespace recursive_tf {

// Sets `*rows` to what is drawn for each row, given all numbers of all rows:
// what TensorFlow's kernels give, bit by bit. Its memory is used again.
template <typename T>
void DrawRows(const RowDraw& draw,
              const std::vector<std::vector<int64_t>>& numbers, Team* team,
              std::vector<T>* rows);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_DRAW_ROWS_H_
