#include "recursive_tf/cc/blocks/packed_matrix.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"

namespace recursive_tf {

template <typename T>
void PackedMatrix<T>::Prepare(const T* matrix, const MatrixLayout& layout,
                              std::vector<ColumnPart> parts,
                              const Kernels<T>* kernels) {
  matrix_ = matrix;
  layout_ = layout;
  parts_ = std::move(parts);
  kernels_ = kernels;
  offsets_.clear();
  int64_t size = 0;
  for (const ColumnPart& part : parts_) {
    std::vector<int64_t>& offsets = offsets_.emplace_back();
    for (const Panel& panel : part.panels) {
      offsets.push_back(size);
      size += layout.depth * panel.num_vectors * kernels->lanes;
    }
  }
  segment_size_ = size;
  memory_.Get(segment_size_ * layout.num_segments);
}

template <typename T>
void PackedMatrix<T>::PackPart(int64_t index) {
  const int64_t stride = layout_.is_transposed
                             ? layout_.depth
                             : layout_.num_segments * layout_.segment_width;
  const auto num_parts = static_cast<int64_t>(parts_.size());
  // As the products do it: a thread packs what it will read.
  const int64_t part = index % num_parts;
  const int64_t segment = index / num_parts;
  T* const to = memory_.data() + segment * segment_size_;
  for (size_t i = 0; i < parts_[part].panels.size(); ++i) {
    const Panel& panel = parts_[part].panels[i];
    const int64_t column = segment * layout_.segment_width + panel.first_column;
    kernels_->pack(
        {matrix_ + (layout_.is_transposed ? column * stride : column), stride,
         layout_.is_transposed, layout_.depth, panel.num_columns,
         panel.num_vectors, to + offsets_[part][i]});
  }
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace recursive_tf
