#ifndef RECURSIVE_TF_CC_BLOCKS_SIMD_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_SIMD_INC_H_

// Vectors of numbers: Eigen's packets, and parts of them.
// Included by kernels_inc.h alone, which says how.

// Sums stay in registers only where loops over them are unrolled.
#define RECURSIVE_TF_UNROLL _Pragma("GCC unroll 16")

namespace recursive_tf {
namespace {

namespace ei = Eigen::internal;

#if defined(__AVX512F__)
inline __mmask16 FirstOf16(int64_t n) {
  return static_cast<__mmask16>((1U << n) - 1U);
}
inline __mmask8 FirstOf8(int64_t n) {
  return static_cast<__mmask8>((1U << n) - 1U);
}
EIGEN_ALWAYS_INLINE ei::Packet16f LoadFirst(const float* from, int64_t n) {
  return _mm512_maskz_loadu_ps(FirstOf16(n), from);
}
EIGEN_ALWAYS_INLINE void StoreFirst(float* to, const ei::Packet16f& packet,
                                    int64_t n) {
  _mm512_mask_storeu_ps(to, FirstOf16(n), packet);
}
EIGEN_ALWAYS_INLINE ei::Packet8d LoadFirst(const double* from, int64_t n) {
  return _mm512_maskz_loadu_pd(FirstOf8(n), from);
}
EIGEN_ALWAYS_INLINE void StoreFirst(double* to, const ei::Packet8d& packet,
                                    int64_t n) {
  _mm512_mask_storeu_pd(to, FirstOf8(n), packet);
}
#elif defined(__AVX2__)
inline __m256i FirstOf8(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i FirstOf4(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n),
                            _mm256_setr_epi64x(0, 1, 2, 3));
}
EIGEN_ALWAYS_INLINE ei::Packet8f LoadFirst(const float* from, int64_t n) {
  return _mm256_maskload_ps(from, FirstOf8(n));
}
EIGEN_ALWAYS_INLINE void StoreFirst(float* to, const ei::Packet8f& packet,
                                    int64_t n) {
  _mm256_maskstore_ps(to, FirstOf8(n), packet);
}
EIGEN_ALWAYS_INLINE ei::Packet4d LoadFirst(const double* from, int64_t n) {
  return _mm256_maskload_pd(from, FirstOf4(n));
}
EIGEN_ALWAYS_INLINE void StoreFirst(double* to, const ei::Packet4d& packet,
                                    int64_t n) {
  _mm256_maskstore_pd(to, FirstOf4(n), packet);
}
#else
template <typename T>
typename ei::packet_traits<T>::type LoadFirst(const T* from, int64_t n) {
  return ei::ploadu_partial<typename ei::packet_traits<T>::type>(from, n);
}
template <typename T>
void StoreFirst(T* to, const typename ei::packet_traits<T>::type& packet,
                int64_t n) {
  ei::pstoreu_partial(to, packet, n);
}
#endif

template <typename T>
struct Simd {
  using Packet = typename ei::packet_traits<T>::type;
  static constexpr int64_t kLanes = ei::packet_traits<T>::size;
  static constexpr bool kIsWide = kLanes * sizeof(T) == 64;

  static Packet Load(const T* from) { return ei::ploadu<Packet>(from); }
  static Packet Load(const T* from, int64_t n) {
    return n == kLanes ? Load(from) : LoadFirst(from, n);
  }
  static void Store(T* to, const Packet& packet) { ei::pstoreu(to, packet); }
  static void Store(T* to, const Packet& packet, int64_t n) {
    if (n == kLanes) return Store(to, packet);
    StoreFirst(to, packet, n);
  }
  static Packet Set(T number) { return ei::pset1<Packet>(number); }
};

// How many accumulators fit the registers: 32 of AVX-512's, else 16.
template <typename T>
struct Tile {
  static constexpr int64_t kVectors = Simd<T>::kIsWide ? 4 : 2;
  static constexpr int64_t kRows = 6;
};

template <typename T>
int64_t CountIn(int64_t vector, int64_t num_numbers) {
  const int64_t rest = num_numbers - vector * Simd<T>::kLanes;
  return rest < Simd<T>::kLanes ? rest : Simd<T>::kLanes;
}

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_SIMD_INC_H_
