#ifndef RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_

// Copies matrices to panels, and columns of rows to groups.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"

namespace recursive_tf {
namespace {

template <typename T>
void PackColumns(const PackWork<T>& work) {
  using S = Simd<T>;
  T* to = work.to;
  for (int64_t k = 0; k < work.depth; ++k) {
    const T* from = work.from + k * work.stride;
    for (int64_t v = 0; v < work.num_vectors; ++v) {
      S::Store(to,
               S::Load(from + v * S::kLanes, CountIn<T>(v, work.num_columns)));
      to += S::kLanes;
    }
  }
}

// Square by square, as large as a vector is long.
template <typename T>
void PackTransposed(const PackWork<T>& work) {
  using S = Simd<T>;
  const int64_t width = work.num_vectors * S::kLanes;
  for (int64_t v = 0; v < work.num_vectors; ++v) {
    const int64_t num_columns = CountIn<T>(v, work.num_columns);
    for (int64_t k = 0; k < work.depth; k += S::kLanes) {
      const int64_t depth = CountIn<T>(k / S::kLanes, work.depth);
      ei::PacketBlock<typename S::Packet, S::kLanes> square;
      for (int64_t j = 0; j < S::kLanes; ++j) {
        square.packet[j] =
            j < num_columns
                ? S::Load(work.from + (v * S::kLanes + j) * work.stride + k,
                          depth)
                : S::Set(0);
      }
      ei::ptranspose(square);
      for (int64_t i = 0; i < depth; ++i) {
        S::Store(work.to + (k + i) * width + v * S::kLanes, square.packet[i]);
      }
    }
  }
}

template <typename T>
void RunPack(const PackWork<T>& work) {
  if (work.is_transposed) return PackTransposed(work);
  PackColumns(work);
}

// Row by row: a line of each group is written several times while it is in the
// first cache.
template <typename T>
void RunGroup(const GroupWork<T>& work) {
  constexpr int64_t kWidth = Tile<T>::kRows;
  const int64_t group = work.depth * kWidth;
  const int64_t skipped = work.first % kWidth;
  T* to = work.to + work.first / kWidth * group;
  for (int64_t row = work.begin; row < work.end; ++row, to += kWidth) {
    const T* from = work.from.row(row);
    const T* const end = from + work.num_columns;
    T* group_to = to;
    if (skipped > 0) {
      for (int64_t i = skipped; i < kWidth && from < end; ++i) {
        group_to[i] = *from++;
      }
      group_to += group;
    }
    for (; end - from >= kWidth; from += kWidth, group_to += group) {
      __builtin_memcpy(group_to, from, kWidth * sizeof(T));
    }
    for (int64_t i = 0; from < end; ++i) group_to[i] = *from++;
  }
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_
