#ifndef RECURSIVE_TF_CC_BLOCKS_SCRATCH_H_
#define RECURSIVE_TF_CC_BLOCKS_SCRATCH_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/narrow_tail.h"

namespace recursive_tf {

// Memory of a thread that no two uses share at a time.
template <typename T>
struct Scratch {
  static Scratch& Mine() {
    static thread_local Scratch scratch;
    return scratch;
  }

  AlignedBuffer<T> products;
  AlignedBuffer<T> registers;
  std::vector<const T*> pieces;
  std::vector<int64_t> lengths;
  std::vector<RowSet<T>> sets;
  NarrowTail<T> narrow_tail;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_SCRATCH_H_
