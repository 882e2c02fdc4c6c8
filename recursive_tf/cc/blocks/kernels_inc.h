// The kernels of one instruction set: included by a source file for each, which
// is compiled with the flags of that set and says in RECURSIVE_TF_SET what to
// call them. Vectors are Eigen's packets, which TensorFlow's own kernels use:
// so a function of a number is the same here and there, up to fused rounding.
//
// Two files must not define one function with different instructions, or the
// linker would keep either: Eigen gets a name of its own in each, all else is
// in an anonymous namespace, and nothing of the standard library is used but
// plain types.

#define RECURSIVE_TF_JOIN_(a, b) a##b
#define RECURSIVE_TF_JOIN(a, b) RECURSIVE_TF_JOIN_(a, b)
#define Eigen RECURSIVE_TF_JOIN(Eigen, RECURSIVE_TF_SET)

#include "Eigen/Core"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"

// That a vector is aligned is no part of what a template is made for.
#pragma GCC diagnostic ignored "-Wignored-attributes"

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

// ---- Element-wise.

template <typename T, Opcode opcode>
struct Compute;

#define RECURSIVE_TF_COMPUTE(name, expression)                                \
  template <typename T>                                                       \
  struct Compute<T, Opcode::name> {                                           \
    using P = typename Simd<T>::Packet;                                       \
    static EIGEN_ALWAYS_INLINE P Run(const P& a, [[maybe_unused]] const P& b, \
                                     [[maybe_unused]] const P& c) {           \
      return expression;                                                      \
    }                                                                         \
  };

template <typename P>
EIGEN_ALWAYS_INLINE P Sigmoid(const P& x) {
  using T = typename ei::unpacket_traits<P>::type;
  return ei::scalar_logistic_op<T>().packetOp(x);
}

// As in TensorFlow, no gradient stays none, even where a function has no slope:
// what nobody wants of a branch must not make NaN.
template <typename P>
EIGEN_ALWAYS_INLINE P UnlessZero(const P& gradient, const P& x) {
  using T = typename ei::unpacket_traits<P>::type;
  const P zero = Simd<T>::Set(0);
  return ei::pselect(ei::pcmp_eq(gradient, zero), zero, x);
}

#define RECURSIVE_TF_NUMBER(x) Simd<T>::Set(static_cast<T>(x))

RECURSIVE_TF_COMPUTE(kCopy, a)
RECURSIVE_TF_COMPUTE(kNeg, ei::pnegate(a))
RECURSIVE_TF_COMPUTE(kAbs, ei::pabs(a))
RECURSIVE_TF_COMPUTE(kSquare, ei::pmul(a, a))
RECURSIVE_TF_COMPUTE(kSqrt, ei::psqrt(a))
RECURSIVE_TF_COMPUTE(kRsqrt, ei::pdiv(RECURSIVE_TF_NUMBER(1), ei::psqrt(a)))
RECURSIVE_TF_COMPUTE(kReciprocal, ei::pdiv(RECURSIVE_TF_NUMBER(1), a))
RECURSIVE_TF_COMPUTE(kExp, ei::pexp(a))
RECURSIVE_TF_COMPUTE(kExpm1, ei::pexpm1(a))
RECURSIVE_TF_COMPUTE(kLog, ei::plog(a))
RECURSIVE_TF_COMPUTE(kLog1p, ei::plog1p(a))
RECURSIVE_TF_COMPUTE(kSin, ei::psin(a))
RECURSIVE_TF_COMPUTE(kCos, ei::pcos(a))
RECURSIVE_TF_COMPUTE(kTanh, ei::ptanh(a))
RECURSIVE_TF_COMPUTE(kSigmoid, Sigmoid(a))
RECURSIVE_TF_COMPUTE(kRelu,
                     ei::pmax<Eigen::PropagateNaN>(a, RECURSIVE_TF_NUMBER(0)))
RECURSIVE_TF_COMPUTE(kAdd, ei::padd(a, b))
RECURSIVE_TF_COMPUTE(kSub, ei::psub(a, b))
RECURSIVE_TF_COMPUTE(kMul, ei::pmul(a, b))
RECURSIVE_TF_COMPUTE(kDiv, ei::pdiv(a, b))
RECURSIVE_TF_COMPUTE(kMax, ei::pmax<Eigen::PropagateNaN>(a, b))
RECURSIVE_TF_COMPUTE(kMin, ei::pmin<Eigen::PropagateNaN>(a, b))
RECURSIVE_TF_COMPUTE(kSquaredDifference,
                     ei::pmul(ei::psub(a, b), ei::psub(a, b)))
RECURSIVE_TF_COMPUTE(kSigmoidGrad, ei::pmul(b, ei::pnmadd(a, a, a)))
RECURSIVE_TF_COMPUTE(kTanhGrad,
                     ei::pmul(b, ei::pnmadd(a, a, RECURSIVE_TF_NUMBER(1))))
RECURSIVE_TF_COMPUTE(
    kSqrtGrad,
    UnlessZero(b, ei::pdiv(ei::pmul(b, RECURSIVE_TF_NUMBER(0.5)), a)))
RECURSIVE_TF_COMPUTE(
    kRsqrtGrad,
    UnlessZero(b, ei::pmul(ei::pmul(ei::pmul(b, RECURSIVE_TF_NUMBER(-0.5)), a),
                           ei::pmul(a, a))))
RECURSIVE_TF_COMPUTE(kReciprocalGrad,
                     UnlessZero(b, ei::pmul(ei::pnegate(b), ei::pmul(a, a))))
RECURSIVE_TF_COMPUTE(kReluGrad,
                     ei::pmul(b,
                              ei::pand(ei::pcmp_lt(RECURSIVE_TF_NUMBER(0), a),
                                       RECURSIVE_TF_NUMBER(1))))
RECURSIVE_TF_COMPUTE(kSigmoidOfSum, Sigmoid(ei::padd(a, b)))
RECURSIVE_TF_COMPUTE(kTanhOfSum, ei::ptanh(ei::padd(a, b)))
RECURSIVE_TF_COMPUTE(kMulAdd, ei::pmadd(a, b, c))
RECURSIVE_TF_COMPUTE(kMulSubFrom, ei::pnmadd(a, b, c))

#undef RECURSIVE_TF_NUMBER
#undef RECURSIVE_TF_COMPUTE

// Runs one instruction for rows [begin, end).
template <typename T, Opcode opcode>
void RunRows(const TailWork<T>& work, const Instruction& instruction,
             int64_t begin, int64_t end) {
  using S = Simd<T>;
  constexpr int kArity = Arity(opcode);
  const RowSet<T>& out = work.sets[instruction.out];
  const RowSet<T>& in_a = work.sets[instruction.in[0]];
  const RowSet<T>& in_b = work.sets[instruction.in[1]];
  const RowSet<T>& in_c = work.sets[instruction.in[2]];
  const int64_t whole = work.width / S::kLanes * S::kLanes;
  const int64_t rest = work.width - whole;
  for (int64_t i = begin; i < end; ++i) {
    T* to = out.row(i);
    const T* a = in_a.row(i);
    const T* b = kArity > 1 ? in_b.row(i) : a;
    const T* c = kArity > 2 ? in_c.row(i) : a;
    for (int64_t j = 0; j < whole; j += S::kLanes) {
      const auto x = S::Load(a + j);
      S::Store(to + j,
               Compute<T, opcode>::Run(x, kArity > 1 ? S::Load(b + j) : x,
                                       kArity > 2 ? S::Load(c + j) : x));
    }
    if (rest == 0) continue;
    const auto x = S::Load(a + whole, rest);
    S::Store(
        to + whole,
        Compute<T, opcode>::Run(x, kArity > 1 ? S::Load(b + whole, rest) : x,
                                kArity > 2 ? S::Load(c + whole, rest) : x),
        rest);
  }
}

template <typename T>
void Fill(T* to, int64_t width, T number) {
  using S = Simd<T>;
  const auto packet = S::Set(number);
  int64_t j = 0;
  for (; j + S::kLanes <= width; j += S::kLanes) S::Store(to + j, packet);
  if (j < width) S::Store(to + j, packet, width - j);
}

template <typename T>
T Reduce(const T* row, int64_t width, Reduction reduction) {
  using S = Simd<T>;
  const bool adds =
      reduction == Reduction::kSum || reduction == Reduction::kMean;
  T number = adds ? T(0) : row[0];
  int64_t j = 0;
  if (width >= S::kLanes) {
    auto packet = S::Load(row);
    for (j = S::kLanes; j + S::kLanes <= width; j += S::kLanes) {
      const auto next = S::Load(row + j);
      packet = adds ? ei::padd(packet, next)
               : reduction == Reduction::kMax
                   ? ei::pmax<Eigen::PropagateNaN>(packet, next)
                   : ei::pmin<Eigen::PropagateNaN>(packet, next);
    }
    number = adds ? ei::predux(packet)
             : reduction == Reduction::kMax
                 ? ei::predux_max<Eigen::PropagateNaN>(packet)
                 : ei::predux_min<Eigen::PropagateNaN>(packet);
  }
  for (; j < width; ++j) {
    const T next = row[j];
    if (adds) {
      number += next;
    } else if (next != next ||
               (reduction == Reduction::kMax ? next > number : next < number)) {
      number = next;
    }
  }
  return reduction == Reduction::kMean ? number / static_cast<T>(width)
                                       : number;
}

// Runs a reduction, spreads one column over all, or takes one of equal ones.
template <typename T>
void RunWholeRows(const TailWork<T>& work, const Instruction& instruction,
                  int64_t begin, int64_t end) {
  const RowSet<T>& out = work.sets[instruction.out];
  const RowSet<T>& in = work.sets[instruction.in[0]];
  for (int64_t i = begin; i < end; ++i) {
    const T* row = in.row(i);
    if (instruction.narrows) {
      out.row(i)[0] = row[0];
      continue;
    }
    Fill(out.row(i), work.width,
         instruction.spreads ? row[0]
                             : Reduce(row, work.width, instruction.reduction));
  }
}

template <typename T>
void RunInstruction(const TailWork<T>& work, const Instruction& instruction,
                    int64_t begin, int64_t end) {
  if (instruction.is_reduction || instruction.spreads || instruction.narrows) {
    return RunWholeRows(work, instruction, begin, end);
  }
  switch (instruction.opcode) {
#define RECURSIVE_TF_OPCODE(name, arity) \
  case Opcode::name:                     \
    return RunRows<T, Opcode::name>(work, instruction, begin, end);
    RECURSIVE_TF_OPCODES(RECURSIVE_TF_OPCODE)
#undef RECURSIVE_TF_OPCODE
  }
}

template <typename T>
void RunTail(const TailWork<T>& work) {
  for (int64_t i = 0; i < work.num_instructions; ++i) {
    RunInstruction(work, work.code[i], work.begin, work.end);
  }
}

// Sums stay in registers only where loops over them are unrolled.
#define RECURSIVE_TF_UNROLL _Pragma("GCC unroll 8")

// ---- Packing.

template <typename T>
int64_t CountIn(int64_t vector, int64_t num_numbers) {
  const int64_t rest = num_numbers - vector * Simd<T>::kLanes;
  return rest < Simd<T>::kLanes ? rest : Simd<T>::kLanes;
}

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

// ---- Products of rows with a packed panel.

template <typename T, int kRows, int kVectors>
EIGEN_ALWAYS_INLINE void MultiplyTile(const PanelWork<T>& work, int64_t first) {
  using S = Simd<T>;
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
    for (int64_t k = 0; k < work.lengths[piece]; ++k) {
      typename S::Packet columns[kVectors];
      RECURSIVE_TF_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        columns[v] = S::Load(right + v * S::kLanes);
      }
      RECURSIVE_TF_UNROLL
      for (int r = 0; r < kRows; ++r) {
        const auto factor = S::Set(left[r][k]);
        RECURSIVE_TF_UNROLL
        for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = ei::pmadd(factor, columns[v], sums[r][v]);
        }
      }
      right += kVectors * S::kLanes;
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

template <typename T, int kVectors>
void MultiplyPanel(const PanelWork<T>& work) {
  int64_t first = 0;
  for (; first + 6 <= work.num_rows; first += 6) {
    MultiplyTile<T, 6, kVectors>(work, first);
  }
  switch (work.num_rows - first) {
    case 1:
      return MultiplyTile<T, 1, kVectors>(work, first);
    case 2:
      return MultiplyTile<T, 2, kVectors>(work, first);
    case 3:
      return MultiplyTile<T, 3, kVectors>(work, first);
    case 4:
      return MultiplyTile<T, 4, kVectors>(work, first);
    case 5:
      return MultiplyTile<T, 5, kVectors>(work, first);
    default:
      return;
  }
}

template <typename T>
void RunPanel(const PanelWork<T>& work) {
  switch (work.num_vectors) {
    case 1:
      return MultiplyPanel<T, 1>(work);
    case 2:
      return MultiplyPanel<T, 2>(work);
    case 3:
      if constexpr (Tile<T>::kVectors > 2) return MultiplyPanel<T, 3>(work);
      return;
    case 4:
      if constexpr (Tile<T>::kVectors > 3) return MultiplyPanel<T, 4>(work);
      return;
    default:
      return;
  }
}

// ---- Sums of outer products.

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
      sums[r][v] = S::Load(from + v * S::kLanes, count(v));
    }
  }
  const int64_t last = count(kVectors - 1);
  for (int64_t k = 0; k < work.depth; ++k) {
    const T* const left = work.left[k] + work.first_left;
    const T* const right = work.right[k] + work.first_right;
    typename S::Packet columns[kVectors];
    RECURSIVE_TF_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      columns[v] = v + 1 < kVectors ? S::Load(right + v * S::kLanes)
                                    : S::Load(right + v * S::kLanes, last);
    }
    RECURSIVE_TF_UNROLL
    for (int r = 0; r < kRows; ++r) {
      const auto factor = S::Set(left[r]);
      RECURSIVE_TF_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = ei::pmadd(factor, columns[v], sums[r][v]);
      }
    }
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

template <typename T>
const Kernels<T>& MakeKernels(const char* name) {
  static constexpr int64_t kLanes = Simd<T>::kLanes;
  static const Kernels<T> kernels = {
      name,       kLanes,     Tile<T>::kVectors, Tile<T>::kRows,
      RunPack<T>, RunTail<T>, RunPanel<T>,       RunOuter<T>};
  return kernels;
}

}  // namespace
}  // namespace recursive_tf
