#include "recursive_tf/cc/blocks/packed_matrix.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

template <typename T>
void PackedMatrix<T>::Pack(const T* matrix, const MatrixLayout& layout,
                           const std::vector<ColumnPart>& parts,
                           const Kernels<T>& kernels, Team* team) {
  offsets_.clear();
  int64_t size = 0;
  for (const ColumnPart& part : parts) {
    std::vector<int64_t>& offsets = offsets_.emplace_back();
    for (const Panel& panel : part.panels) {
      offsets.push_back(size);
      size += layout.depth * panel.num_vectors * kernels.lanes;
    }
  }
  segment_size_ = size;
  T* const memory = memory_.Get(segment_size_ * layout.num_segments);
  const int64_t stride = layout.is_transposed
                             ? layout.depth
                             : layout.num_segments * layout.segment_width;
  const auto num_parts = static_cast<int64_t>(parts.size());
  // As the products do it: a thread packs what it will read.
  team->Run(layout.num_segments * num_parts, [&](int64_t index) {
    const int64_t part = index % num_parts;
    const int64_t segment = index / num_parts;
    for (size_t i = 0; i < parts[part].panels.size(); ++i) {
      const Panel& panel = parts[part].panels[i];
      const int64_t column =
          segment * layout.segment_width + panel.first_column;
      kernels.pack({matrix + (layout.is_transposed ? column * stride : column),
                    stride, layout.is_transposed, layout.depth,
                    panel.num_columns, panel.num_vectors,
                    memory + segment * segment_size_ + offsets_[part][i]});
    }
  });
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace recursive_tf
