#ifndef RECURSIVE_TF_CC_BLOCKS_REDUCE_ROWS_H_
#define RECURSIVE_TF_CC_BLOCKS_REDUCE_ROWS_H_

#include <cstdint>

#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

// Takes rows [begin, end) into the one row `to`, one after the other: adds them
// to it, or keeps what is the largest or least.
template <typename T>
void ReduceRows(const Kernels<T>& kernels, Opcode opcode, const RowSet<T>& rows,
                int64_t begin, int64_t end, int64_t width, T* to) {
  Instruction take;
  take.opcode = opcode;
  take.in[1] = 1;
  const RowSet<T> sets[] = {{to, 0}, rows};
  kernels.tail({&take, 1, sets, begin, end, width});
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_REDUCE_ROWS_H_
