#ifndef RECURSIVE_TF_CC_BLOCKS_DOTS_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_DOTS_INC_H_

// Products of rows with columns of a matrix whose transpose is there.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"

namespace recursive_tf {
namespace {

// Rows and columns of a tile: their sums, which are vectors until the end, and
// the columns' numbers fit the registers.
template <typename T>
struct DotTile {
  static constexpr int kRows = Simd<T>::kIsWide ? 5 : 3;
  static constexpr int kColumns = Simd<T>::kIsWide ? 4 : 3;
};

template <typename T, int kRows, int kColumns>
EIGEN_ALWAYS_INLINE void AddDots(
    const T* const (&left)[kRows], const T* right, int64_t stride,
    int64_t count, typename Simd<T>::Packet (&sums)[kRows][kColumns]) {
  using S = Simd<T>;
  typename S::Packet columns[kColumns];
  RECURSIVE_TF_UNROLL
  for (int c = 0; c < kColumns; ++c) {
    columns[c] = S::Load(right + c * stride, count);
  }
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const auto row = S::Load(left[r], count);
    RECURSIVE_TF_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = ei::pmadd(row, columns[c], sums[r][c]);
    }
  }
}

template <typename T, int kRows, int kColumns>
EIGEN_ALWAYS_INLINE void DotsOfTile(const DotWork<T>& work, int64_t first_row,
                                    int64_t first_column) {
  using S = Simd<T>;
  typename S::Packet sums[kRows][kColumns];
  RECURSIVE_TF_UNROLL
  for (auto& row : sums) {
    RECURSIVE_TF_UNROLL
    for (auto& sum : row) sum = S::Set(0);
  }
  const T* right = work.columns + first_column * work.stride;
  for (int64_t piece = 0; piece < work.num_pieces; ++piece) {
    const T* left[kRows];
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      left[r] = work.pieces[(first_row + r) * work.num_pieces + piece];
    }
    int64_t rest = work.lengths[piece];
    for (; rest >= S::kLanes; rest -= S::kLanes) {
      AddDots<T, kRows, kColumns>(left, right, work.stride, S::kLanes, sums);
      RECURSIVE_TF_UNROLL
      for (auto& row : left) row += S::kLanes;
      right += S::kLanes;
    }
    if (rest == 0) continue;
    AddDots<T, kRows, kColumns>(left, right, work.stride, rest, sums);
    right += rest;
  }
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    T* to = work.out + (first_row + r) * work.out_stride + first_column;
    RECURSIVE_TF_UNROLL
    for (int c = 0; c < kColumns; ++c) to[c] = ei::predux(sums[r][c]);
  }
}

template <typename T, int kRows, int kColumns>
EIGEN_ALWAYS_INLINE void DotsOfColumns(const DotWork<T>& work,
                                       int64_t first_row, int64_t first_column,
                                       int64_t num_columns) {
  if (num_columns == kColumns) {
    return DotsOfTile<T, kRows, kColumns>(work, first_row, first_column);
  }
  if constexpr (kColumns > 1) {
    DotsOfColumns<T, kRows, kColumns - 1>(work, first_row, first_column,
                                          num_columns);
  }
}

template <typename T, int kRows>
void DotsOfRows(const DotWork<T>& work, int64_t first_column,
                int64_t num_columns, int64_t first_row, int64_t num_rows) {
  if (num_rows == kRows) {
    return DotsOfColumns<T, kRows, DotTile<T>::kColumns>(
        work, first_row, first_column, num_columns);
  }
  if constexpr (kRows > 1) {
    DotsOfRows<T, kRows - 1>(work, first_column, num_columns, first_row,
                             num_rows);
  }
}

// All rows take the same few columns, which stay in the first cache.
template <typename T>
void RunDots(const DotWork<T>& work) {
  constexpr int64_t kRows = DotTile<T>::kRows;
  constexpr int64_t kColumns = DotTile<T>::kColumns;
  for (int64_t c = 0; c < work.num_columns; c += kColumns) {
    const int64_t num_columns =
        work.num_columns - c < kColumns ? work.num_columns - c : kColumns;
    int64_t num_tiles = (work.num_rows + kRows - 1) / kRows;
    for (int64_t first = 0; num_tiles > 0; --num_tiles) {
      const int64_t num_rows =
          (work.num_rows - first + num_tiles - 1) / num_tiles;
      DotsOfRows<T, kRows>(work, c, num_columns, first, num_rows);
      first += num_rows;
    }
  }
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_DOTS_INC_H_
