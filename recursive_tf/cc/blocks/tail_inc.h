#ifndef RECURSIVE_TF_CC_BLOCKS_TAIL_INC_H_
#define RECURSIVE_TF_CC_BLOCKS_TAIL_INC_H_

// Element-wise instructions and reductions, on strips of rows.
// Included by kernels_inc.h alone, which says how.

#include "recursive_tf/cc/blocks/simd_inc.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace recursive_tf {
namespace {

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

#if EIGEN_MAJOR_VERSION < 5
// Eigen had no vectors of doubles for some functions, when TensorFlow was 2.20.
template <typename P, typename Function>
P NumberByNumber(const P& x, const Function& function) {
  typename ei::unpacket_traits<P>::type numbers[ei::unpacket_traits<P>::size];
  ei::pstoreu(numbers, x);
  for (auto& number : numbers) number = function(number);
  return ei::ploadu<P>(numbers);
}

template <typename P>
EIGEN_ALWAYS_INLINE P Expm1(const P& x) {
  using T = typename ei::unpacket_traits<P>::type;
  if constexpr (std::is_same_v<T, double>) {
    return NumberByNumber(x, [](double number) { return std::expm1(number); });
  } else {
    return ei::pexpm1(x);
  }
}

template <typename P>
EIGEN_ALWAYS_INLINE P Log1p(const P& x) {
  using T = typename ei::unpacket_traits<P>::type;
  if constexpr (std::is_same_v<T, double>) {
    return NumberByNumber(x, [](double number) { return std::log1p(number); });
  } else {
    return ei::plog1p(x);
  }
}

template <typename P>
EIGEN_ALWAYS_INLINE P Erf(const P& x) {
  return NumberByNumber(x, [](auto number) { return std::erf(number); });
}

template <typename P>
EIGEN_ALWAYS_INLINE P Erfc(const P& x) {
  return NumberByNumber(x, [](auto number) { return std::erfc(number); });
}
#else
// Eigen's is NaN for an infinite double. From 6 on it is 1.
template <typename P>
EIGEN_ALWAYS_INLINE P Erf(const P& x) {
  using S = Simd<typename ei::unpacket_traits<P>::type>;
  return ei::perf(ei::pmin<Eigen::PropagateNaN>(
      ei::pmax<Eigen::PropagateNaN>(x, S::Set(-6)), S::Set(6)));
}

template <typename P>
EIGEN_ALWAYS_INLINE P Erfc(const P& x) {
  return ei::perfc(x);
}

template <typename P>
EIGEN_ALWAYS_INLINE P Expm1(const P& x) {
  return ei::pexpm1(x);
}

template <typename P>
EIGEN_ALWAYS_INLINE P Log1p(const P& x) {
  return ei::plog1p(x);
}
#endif

// As in TensorFlow, no gradient stays none, even where a function has no slope:
// what nobody wants of a branch must not make NaN.
template <typename P>
EIGEN_ALWAYS_INLINE P UnlessZero(const P& gradient, const P& x) {
  using T = typename ei::unpacket_traits<P>::type;
  const P zero = Simd<T>::Set(0);
  return ei::pselect(ei::pcmp_eq(gradient, zero), zero, x);
}

// 1 where a comparison is true, else 0.
template <typename P>
EIGEN_ALWAYS_INLINE P AsNumber(const P& comparison) {
  using T = typename ei::unpacket_traits<P>::type;
  return ei::pselect(comparison, Simd<T>::Set(1), Simd<T>::Set(0));
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
RECURSIVE_TF_COMPUTE(kExpm1, Expm1(a))
RECURSIVE_TF_COMPUTE(kLog, ei::plog(a))
RECURSIVE_TF_COMPUTE(kLog1p, Log1p(a))
RECURSIVE_TF_COMPUTE(kErf, Erf(a))
RECURSIVE_TF_COMPUTE(kErfc, Erfc(a))
RECURSIVE_TF_COMPUTE(kSin, ei::psin(a))
RECURSIVE_TF_COMPUTE(kCos, ei::pcos(a))
RECURSIVE_TF_COMPUTE(kTanh, ei::ptanh(a))
RECURSIVE_TF_COMPUTE(kSigmoid, Sigmoid(a))
RECURSIVE_TF_COMPUTE(kRelu,
                     ei::pmax<Eigen::PropagateNaN>(a, RECURSIVE_TF_NUMBER(0)))
RECURSIVE_TF_COMPUTE(kFloor, ei::pfloor(a))
RECURSIVE_TF_COMPUTE(kCeil, ei::pceil(a))
RECURSIVE_TF_COMPUTE(kRint, ei::print(a))
RECURSIVE_TF_COMPUTE(kAdd, ei::padd(a, b))
RECURSIVE_TF_COMPUTE(kSub, ei::psub(a, b))
RECURSIVE_TF_COMPUTE(kMul, ei::pmul(a, b))
RECURSIVE_TF_COMPUTE(kDiv, ei::pdiv(a, b))
RECURSIVE_TF_COMPUTE(kMax, ei::pmax<Eigen::PropagateNaN>(a, b))
RECURSIVE_TF_COMPUTE(kMin, ei::pmin<Eigen::PropagateNaN>(a, b))
RECURSIVE_TF_COMPUTE(kSquaredDifference,
                     ei::pmul(ei::psub(a, b), ei::psub(a, b)))
RECURSIVE_TF_COMPUTE(kPow, (ei::scalar_pow_op<T, T>().packetOp(a, b)))
RECURSIVE_TF_COMPUTE(kLess, AsNumber(ei::pcmp_lt(a, b)))
RECURSIVE_TF_COMPUTE(kLessEqual, AsNumber(ei::pcmp_le(a, b)))
RECURSIVE_TF_COMPUTE(kEqual, AsNumber(ei::pcmp_eq(a, b)))
RECURSIVE_TF_COMPUTE(kNotEqual, ei::psub(RECURSIVE_TF_NUMBER(1),
                                         AsNumber(ei::pcmp_eq(a, b))))
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
RECURSIVE_TF_COMPUTE(kSelect,
                     ei::pselect(ei::pcmp_eq(a, RECURSIVE_TF_NUMBER(0)), c, b))

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

// Returns what reduces two numbers, as Reduce above does.
template <typename P>
EIGEN_ALWAYS_INLINE P ReduceTwo(const P& a, const P& b, Reduction reduction) {
  switch (reduction) {
    case Reduction::kMax:
      return ei::pmax<Eigen::PropagateNaN>(a, b);
    case Reduction::kMin:
      return ei::pmin<Eigen::PropagateNaN>(a, b);
    default:
      return ei::padd(a, b);
  }
}

// Does the same as RunWholeRows of columns, of which the first is the only one
// that spreads or is taken.
template <typename T>
void RunWholeColumns(const TailWork<T>& work, const Instruction& instruction) {
  using S = Simd<T>;
  const RowSet<T>& out = work.sets[instruction.out];
  const RowSet<T>& in = work.sets[instruction.in[0]];
  const int64_t end = instruction.narrows ? work.begin + 1 : work.end;
  const Reduction reduction = instruction.reduction;
  const bool adds =
      reduction == Reduction::kSum || reduction == Reduction::kMean;
  for (int64_t j = 0; j < work.width; j += S::kLanes) {
    const int64_t count =
        work.width - j < S::kLanes ? work.width - j : S::kLanes;
    auto column = S::Load(in.row(work.begin) + j, count);
    if (instruction.is_reduction) {
      // Of -0 alone the sum is 0.
      if (adds) column = ei::padd(S::Set(0), column);
      for (int64_t i = work.begin + 1; i < work.end; ++i) {
        column = ReduceTwo(column, S::Load(in.row(i) + j, count), reduction);
      }
      if (reduction == Reduction::kMean) {
        column =
            ei::pdiv(column, S::Set(static_cast<T>(work.end - work.begin)));
      }
    }
    for (int64_t i = work.begin; i < end; ++i) {
      S::Store(out.row(i) + j, column, count);
    }
  }
}

template <typename T>
void RunInstruction(const TailWork<T>& work, const Instruction& instruction,
                    int64_t begin, int64_t end) {
  if (instruction.is_reduction || instruction.spreads || instruction.narrows) {
    if (work.are_columns) return RunWholeColumns(work, instruction);
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

}  // namespace
}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_TAIL_INC_H_
