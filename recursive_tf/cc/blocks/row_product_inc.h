#ifndef RECURSIVE_TF_CC_BLOCKS_ROW_PRODUCT_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_ROW_PRODUCT_INC_H_

// Products of matrices that stand in rows: each row has its own.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"

namespace recursive_tf {
namespace {

// Sums of rows of the right matrix, each times a number of the left one: some
// rows of the result, and `kVectors` vectors of its columns.
template <typename T, int kRows, int kVectors>
EIGEN_ALWAYS_INLINE void AddUpTile(const RowProductShape& shape, const T* left,
                                   const T* right, int64_t num_columns,
                                   T* out) {
  using S = Simd<T>;
  const int64_t last = CountIn<T>(kVectors - 1, num_columns);
  typename S::Packet sums[kRows][kVectors];
  RECURSIVE_TF_UNROLL
  for (auto& row : sums) {
    RECURSIVE_TF_UNROLL
    for (auto& sum : row) sum = S::Set(0);
  }
  for (int64_t k = 0; k < shape.depth; ++k) {
    const T* const row = right + k * shape.num_columns;
    typename S::Packet columns[kVectors];
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = v + 1 < kVectors ? S::Load(row + v * S::kLanes)
                                    : S::Load(row + v * S::kLanes, last);
    }
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto factor =
          S::Set(left[r * shape.left_row + k * shape.left_column]);
      RECURSIVE_TF_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = ei::pmadd(factor, columns[v], sums[r][v]);
      }
    }
  }
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    T* const to = out + r * shape.num_columns;
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      S::Store(to + v * S::kLanes, sums[r][v],
               v + 1 < kVectors ? S::kLanes : last);
    }
  }
}

template <typename T, int kVectors>
void AddUpColumns(const RowProductShape& shape, const T* left, const T* right,
                  int64_t num_columns, T* out) {
  int64_t i = 0;
  for (; i + 4 <= shape.num_rows; i += 4) {
    AddUpTile<T, 4, kVectors>(shape, left + i * shape.left_row, right,
                              num_columns, out + i * shape.num_columns);
  }
  for (; i < shape.num_rows; ++i) {
    AddUpTile<T, 1, kVectors>(shape, left + i * shape.left_row, right,
                              num_columns, out + i * shape.num_columns);
  }
}

template <typename T>
void AddUp(const RowProductShape& shape, const T* left, const T* right,
           T* out) {
  constexpr int64_t kLanes = Simd<T>::kLanes;
  int64_t column = 0;
  while (shape.num_columns - column > 0) {
    const int64_t rest = shape.num_columns - column;
    if (rest > kLanes) {
      const int64_t count = rest < 2 * kLanes ? rest : 2 * kLanes;
      AddUpColumns<T, 2>(shape, left, right + column, count, out + column);
      column += count;
    } else {
      AddUpColumns<T, 1>(shape, left, right + column, rest, out + column);
      column += rest;
    }
  }
}

// The sum of all products of two sequences of numbers.
template <typename T>
T Dot(const T* a, const T* b, int64_t count) {
  using S = Simd<T>;
  auto sum = S::Set(0);
  int64_t k = 0;
  for (; k + S::kLanes <= count; k += S::kLanes) {
    sum = ei::pmadd(S::Load(a + k), S::Load(b + k), sum);
  }
  // What is no number of theirs is 0.
  if (k < count) {
    sum = ei::pmadd(S::Load(a + k, count - k), S::Load(b + k, count - k), sum);
  }
  return ei::predux(sum);
}

template <typename T>
void RunRowProduct(const RowProductWork<T>& work) {
  const RowProductShape& shape = work.shape;
  for (int64_t row = work.begin; row < work.end; ++row) {
    const T* const left = work.left.row(row);
    const T* const right = work.right.row(row);
    T* const out = work.out.row(row);
    if (!shape.is_right_by_columns) {
      AddUp(shape, left, right, out);
      continue;
    }
    for (int64_t i = 0; i < shape.num_rows; ++i) {
      for (int64_t j = 0; j < shape.num_columns; ++j) {
        out[i * shape.num_columns + j] = Dot(
            left + i * shape.left_row, right + j * shape.depth, shape.depth);
      }
    }
  }
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ROW_PRODUCT_INC_H_
