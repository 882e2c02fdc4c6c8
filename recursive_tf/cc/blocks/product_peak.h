#ifndef RECURSIVE_TF_CC_BLOCKS_PRODUCT_PEAK_H_
#define RECURSIVE_TF_CC_BLOCKS_PRODUCT_PEAK_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// How much of what a machine could compute the products of a program do: those
// with matrices, those of two matrices of a row, and sums of outer products.
// Operations are multiplications and additions of numbers.

// Returns the operations that products do for each row of a run, by the axis
// that rows stand along.
std::vector<int64_t> ProductFlops(const BlockProgram& program,
                                  int32_t num_axes);

// Returns the most operations a second that products reach on all threads of a
// team, measured with operands in the first caches. Takes some tens of ms.
template <typename T>
double MeasureProductPeak(const Kernels<T>& kernels, Team* team);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PRODUCT_PEAK_H_
