#ifndef RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_

// Copies matrices to panels.
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

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PACK_INC_H_
