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

// Copies some rows side by side: groups are far from each other, so that each
// is as much work to find as to write to.
template <typename T, int kRows>
EIGEN_ALWAYS_INLINE void GroupRows(const GroupWork<T>& work, int64_t row,
                                   T* to) {
  constexpr int64_t kWidth = Tile<T>::kRows;
  const int64_t group = work.depth * kWidth;
  const int64_t skipped = work.first % kWidth;
  const T* from[kRows];
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) from[r] = work.from.row(row + r);
  const auto copy = [&](int64_t column, int64_t count, int64_t at) {
    for (int r = 0; r < kRows; ++r) {
      for (int64_t i = 0; i < count; ++i) {
        to[r * kWidth + at + i] = from[r][column + i];
      }
    }
  };
  int64_t column = 0;
  if (skipped > 0) {
    const int64_t rest = kWidth - skipped;
    column = rest < work.num_columns ? rest : work.num_columns;
    copy(0, column, skipped);
    to += group;
  }
  for (; column + kWidth <= work.num_columns; column += kWidth, to += group) {
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      __builtin_memcpy(to + r * kWidth, from[r] + column, kWidth * sizeof(T));
    }
  }
  if (column < work.num_columns) copy(column, work.num_columns - column, 0);
}

// A line of each group is written several times while it is in the first cache.
template <typename T>
void RunGroup(const GroupWork<T>& work) {
  constexpr int64_t kWidth = Tile<T>::kRows;
  constexpr int kAtOnce = 4;
  T* to = work.to + work.first / kWidth * work.depth * kWidth;
  int64_t row = work.begin;
  for (; row + kAtOnce <= work.end; row += kAtOnce, to += kAtOnce * kWidth) {
    GroupRows<T, kAtOnce>(work, row, to);
  }
  for (; row < work.end; ++row, to += kWidth) GroupRows<T, 1>(work, row, to);
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_
