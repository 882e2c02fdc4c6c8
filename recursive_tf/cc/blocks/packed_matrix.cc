#include "recursive_tf/cc/blocks/packed_matrix.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

template <typename T>
void PackedMatrix<T>::Pack(const T* matrix, int64_t depth, int64_t num_segments,
                           int64_t segment_width, bool is_transposed,
                           const std::vector<ColumnPart>& parts, int64_t lanes,
                           Team* team) {
  offsets_.clear();
  int64_t size = 0;
  for (const ColumnPart& part : parts) {
    std::vector<int64_t>& offsets = offsets_.emplace_back();
    for (const Panel& panel : part.panels) {
      offsets.push_back(size);
      size += depth * panel.num_vectors * lanes;
    }
  }
  segment_size_ = size;
  T* const memory = memory_.Get(segment_size_ * num_segments);
  const Source source = {matrix, depth, num_segments * segment_width,
                         is_transposed};
  const auto num_parts = static_cast<int64_t>(parts.size());
  // As the products do it: a thread packs what it will read.
  team->Run(num_segments * num_parts, [&](int64_t index) {
    const int64_t part = index % num_parts;
    const int64_t segment = index / num_parts;
    for (size_t i = 0; i < parts[part].panels.size(); ++i) {
      const Panel& panel = parts[part].panels[i];
      PackPanel(source, segment * segment_width + panel.first_column, panel,
                lanes, memory + segment * segment_size_ + offsets_[part][i]);
    }
  });
}

template <typename T>
void PackedMatrix<T>::PackPanel(const Source& source, int64_t first_column,
                                const Panel& panel, int64_t lanes, T* to) {
  const int64_t width = panel.num_vectors * lanes;
  if (!source.is_transposed) {
    const T* from = source.matrix + first_column;
    for (int64_t k = 0; k < source.depth; ++k) {
      std::copy_n(from, panel.num_columns, to);
      std::fill(to + panel.num_columns, to + width, T(0));
      from += source.num_columns;
      to += width;
    }
    return;
  }
  // Lines of the source are read whole, and few of the target are written at
  // a time.
  constexpr int64_t kBlock = 64 / static_cast<int64_t>(sizeof(T));
  for (int64_t k0 = 0; k0 < source.depth; k0 += kBlock) {
    const int64_t k1 = std::min(k0 + kBlock, source.depth);
    for (int64_t j = 0; j < panel.num_columns; ++j) {
      const T* from = source.matrix + (first_column + j) * source.depth;
      for (int64_t k = k0; k < k1; ++k) to[k * width + j] = from[k];
    }
    for (int64_t k = k0; k < k1; ++k) {
      std::fill(to + k * width + panel.num_columns, to + (k + 1) * width, T(0));
    }
  }
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace recursive_tf
