#ifndef RECURSIVE_TF_CC_BLOCKS_NARROW_TAIL_H_
#define RECURSIVE_TF_CC_BLOCKS_NARROW_TAIL_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// The code of a phase of few columns, e.g. the classes of a softmax. A vector
// of such a row would be mostly empty, so a vector holds a column of many rows
// here: rows are transposed on their way in, and results on their way out. The
// numbers are the same bits as those of rows one by one.
//
//   Thread safety: none.
template <typename T>
class NarrowTail {
 public:
  // Returns whether so many rows take fewer vectors as columns, and enough
  // instructions for what it costs to transpose them.
  static bool Pays(const Phase& phase, int64_t num_rows, int64_t lanes);

  // Runs the code for rows [begin, end) of `sets`, which are those of the
  // phase's places; registers have none.
  void Run(const Kernels<T>& kernels, const Phase& phase,
           const std::vector<RowSet<T>>& sets, int64_t begin, int64_t end);

 private:
  // Finds out which places are read before they are written, and which are
  // written, but for registers.
  void FindUses(const Phase& phase);

  AlignedBuffer<T> memory_;
  std::vector<RowSet<T>> columns_;
  // By place.
  std::vector<uint8_t> is_taken_;
  std::vector<uint8_t> is_given_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_NARROW_TAIL_H_
