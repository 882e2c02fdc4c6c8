#ifndef RECURSIVE_TF_CC_BLOCKS_PACKED_MATRIX_H_
#define RECURSIVE_TF_CC_BLOCKS_PACKED_MATRIX_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// A matrix of `depth` rows, whose columns are some segments of one width; it
// may be there as its transpose.
struct MatrixLayout {
  int64_t depth = 0;
  int64_t num_segments = 1;
  int64_t segment_width = 0;
  bool is_transposed = false;
};

// The right factor of products, as their kernels read it: for each segment of
// its columns, all of one width, and each panel of a segment, the panel's
// columns of each row, one row behind the other. What a panel has not is 0.
template <typename T>
class PackedMatrix {
 public:
  // Packs a matrix. `parts` are those of a segment.
  void Pack(const T* matrix, const MatrixLayout& layout,
            const std::vector<ColumnPart>& parts, const Kernels<T>& kernels,
            Team* team);

  // Returns a panel of one of the parts.
  const T* panel(int64_t segment, int64_t part, int64_t panel) const {
    return memory_.data() + segment * segment_size_ + offsets_[part][panel];
  }

 private:
  AlignedBuffer<T> memory_;
  int64_t segment_size_ = 0;
  // By part and panel, within a segment.
  std::vector<std::vector<int64_t>> offsets_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PACKED_MATRIX_H_
