#ifndef RECURSIVE_TF_CC_BLOCKS_PRODUCT_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_PRODUCT_INC_H_

// Products of rows with a panel, and sums of outer products of rows.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"

namespace recursive_tf {
namespace {

// How many rows of a panel are asked for ahead, where it does not fit the first
// cache. What asks costs more than it saves where it does.
constexpr int64_t kRowsAhead = 16;
constexpr int64_t kFirstCacheBytes = 32 * 1024;

// How a panel is read: packed, and then asked for ahead or not; or where it
// stands.
enum class Reads : uint8_t { kPacked, kPackedAhead, kStanding };

template <typename T>
bool IsKnown(const PanelWork<T>& work, int64_t piece) {
  return piece < 64 && (work.known >> static_cast<uint64_t>(piece) & 1U) != 0;
}

template <typename T, int kRows, int kVectors, Reads kReads>
EIGEN_ALWAYS_INLINE void MultiplyTile(const PanelWork<T>& work, int64_t first) {
  using S = Simd<T>;
  constexpr bool kIsPacked = kReads != Reads::kStanding;
  const int64_t stride = kIsPacked ? kVectors * S::kLanes : work.panel_stride;
  const int64_t last_count = CountIn<T>(kVectors - 1, work.num_columns);
  typename S::Packet sums[kRows][kVectors];
  RECURSIVE_TF_UNROLL
  for (auto& row : sums) {
    RECURSIVE_TF_UNROLL
    for (auto& sum : row) sum = S::Set(0);
  }
  const T* right = work.panel;
  for (int64_t piece = 0; piece < work.num_pieces; ++piece) {
    const T* left[kRows];
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      left[r] = work.pieces[(first + r) * work.num_pieces + piece];
    }
    if (IsKnown(work, piece)) {
      RECURSIVE_TF_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const T* const from = left[r] + work.known_column;
        RECURSIVE_TF_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = ei::padd(sums[r][v], S::Load(from + v * S::kLanes));
        }
      }
      right += work.lengths[piece] * stride;
      continue;
    }
    for (int64_t k = 0; k < work.lengths[piece]; ++k) {
      typename S::Packet columns[kVectors];
      RECURSIVE_TF_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        const T* const from = right + v * S::kLanes;
        const bool is_part = !kIsPacked && v + 1 == kVectors;
        columns[v] = is_part ? S::Load(from, last_count) : S::Load(from);
        if (kReads != Reads::kPacked) {
          __builtin_prefetch(from + kRowsAhead * stride);
        }
      }
      RECURSIVE_TF_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const auto factor = S::Set(left[r][k]);
        RECURSIVE_TF_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = ei::pmadd(factor, columns[v], sums[r][v]);
        }
      }
      right += stride;
    }
  }
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    T* to = work.out + (first + r) * work.out_stride;
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      S::Store(to + v * S::kLanes, sums[r][v], CountIn<T>(v, work.num_columns));
    }
  }
}

// How many rows a tile of some vectors has at most, so that its sums fit the
// registers.
template <typename T>
constexpr int MostRows(int num_vectors) {
  constexpr int kMost = 12;
  const int most = static_cast<int>(Tile<T>::kRows * Tile<T>::kVectors);
  return most / num_vectors < kMost ? most / num_vectors : kMost;
}

template <typename T, int kVectors, Reads kReads, int kRows>
EIGEN_ALWAYS_INLINE void MultiplyRows(const PanelWork<T>& work, int64_t first,
                                      int64_t num_rows) {
  if (num_rows == kRows) {
    return MultiplyTile<T, kRows, kVectors, kReads>(work, first);
  }
  if constexpr (kRows > 1) {
    MultiplyRows<T, kVectors, kReads, kRows - 1>(work, first, num_rows);
  }
}

// Tiles are about equally high: each reads all of the panel, however low it is.
template <typename T, int kVectors, Reads kReads>
void MultiplyTiles(const PanelWork<T>& work) {
  constexpr int kMost = MostRows<T>(kVectors);
  int64_t num_tiles = (work.num_rows + kMost - 1) / kMost;
  for (int64_t first = 0; num_tiles > 0; --num_tiles) {
    const int64_t num_rows =
        (work.num_rows - first + num_tiles - 1) / num_tiles;
    MultiplyRows<T, kVectors, kReads, kMost>(work, first, num_rows);
    first += num_rows;
  }
}

template <typename T, int kVectors>
void MultiplyPanel(const PanelWork<T>& work) {
  if (work.panel_stride != 0) {
    return MultiplyTiles<T, kVectors, Reads::kStanding>(work);
  }
  int64_t depth = 0;
  for (int64_t i = 0; i < work.num_pieces; ++i) depth += work.lengths[i];
  constexpr int64_t kRowBytes = kVectors * Simd<T>::kLanes * sizeof(T);
  if (depth * kRowBytes > kFirstCacheBytes) {
    return MultiplyTiles<T, kVectors, Reads::kPackedAhead>(work);
  }
  MultiplyTiles<T, kVectors, Reads::kPacked>(work);
}

template <typename T, int kVectors>
void MultiplyVectors(const PanelWork<T>& work) {
  if (work.num_vectors == kVectors) {
    if constexpr (kVectors <= Tile<T>::kVectors) {
      return MultiplyPanel<T, kVectors>(work);
    } else {
      return MultiplyTiles<T, kVectors, Reads::kStanding>(work);
    }
  }
  if constexpr (kVectors > 1) MultiplyVectors<T, kVectors - 1>(work);
}

// Many rows take a wide panel half by half, so that a tile has more of them.
// Few rows have too few sums in a half to add up one while others wait.
template <typename T>
void RunPanel(const PanelWork<T>& work) {
  constexpr int64_t kMost = Tile<T>::kVectors;
  const int64_t num_vectors = work.num_vectors;
  if (num_vectors <= kMost ||
      num_vectors * work.num_rows <= Tile<T>::kRows * kMost) {
    return MultiplyVectors<T, 2 * kMost>(work);
  }
  PanelWork<T> half = work;
  half.num_vectors = num_vectors / 2;
  half.num_columns = half.num_vectors * Simd<T>::kLanes;
  MultiplyVectors<T, kMost>(half);
  half.panel += half.num_columns;
  half.out += half.num_columns;
  half.known_column += half.num_columns;
  half.num_columns = work.num_columns - half.num_columns;
  half.num_vectors = num_vectors - half.num_vectors;
  MultiplyVectors<T, kMost>(half);
}

template <typename T, int kRows, int kVectors>
EIGEN_ALWAYS_INLINE void AddOuter(const OuterWork<T>& work) {
  using S = Simd<T>;
  typename S::Packet sums[kRows][kVectors];
  const auto count = [&work](int v) { return CountIn<T>(v, work.num_columns); };
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    const T* from = work.out + r * work.out_stride;
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] =
          work.adds ? S::Load(from + v * S::kLanes, count(v)) : S::Set(0);
    }
  }
  const T* left = work.left;
  const T* right = work.right;
  for (int64_t k = 0; k < work.depth; ++k) {
    typename S::Packet columns[kVectors];
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = S::Load(right + v * S::kLanes);
    }
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto factor = S::Set(left[r]);
      RECURSIVE_TF_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = ei::pmadd(factor, columns[v], sums[r][v]);
      }
    }
    left += Tile<T>::kRows;
    right += kVectors * S::kLanes;
  }
  RECURSIVE_TF_UNROLL
  for (int r = 0; r < kRows; ++r) {
    T* to = work.out + r * work.out_stride;
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      S::Store(to + v * S::kLanes, sums[r][v], count(v));
    }
  }
}

template <typename T, int kVectors>
void AddOuterOf(const OuterWork<T>& work) {
  switch (work.num_left) {
    case 1:
      return AddOuter<T, 1, kVectors>(work);
    case 2:
      return AddOuter<T, 2, kVectors>(work);
    case 3:
      return AddOuter<T, 3, kVectors>(work);
    case 4:
      return AddOuter<T, 4, kVectors>(work);
    case 5:
      return AddOuter<T, 5, kVectors>(work);
    case 6:
      return AddOuter<T, 6, kVectors>(work);
    default:
      return;
  }
}

template <typename T>
void RunOuter(const OuterWork<T>& work) {
  switch (work.num_vectors) {
    case 1:
      return AddOuterOf<T, 1>(work);
    case 2:
      return AddOuterOf<T, 2>(work);
    case 3:
      if constexpr (Tile<T>::kVectors > 2) return AddOuterOf<T, 3>(work);
      return;
    case 4:
      if constexpr (Tile<T>::kVectors > 3) return AddOuterOf<T, 4>(work);
      return;
    default:
      return;
  }
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PRODUCT_INC_H_
