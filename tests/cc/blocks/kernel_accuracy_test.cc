#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tests/cc/blocks/evaluate.h"
#include "tests/cc/blocks/run_row.h"

namespace recursive_tf {
namespace {

// What kernels.h says of accuracy is held here.

struct Accuracy {
  Opcode opcode;
  // In units in the last place.
  double for_float;
  double for_double;
  // Of the first operand; its logarithm is drawn if `is_log`.
  double low = -4;
  double high = 4;
  bool is_log = false;
};

const std::vector<Accuracy>& Accuracies() {
  static const auto* const all = new std::vector<Accuracy>{
      {Opcode::kCopy, 0, 0},
      {Opcode::kNeg, 0, 0},
      {Opcode::kAbs, 0, 0},
      {Opcode::kMax, 0, 0},
      {Opcode::kMin, 0, 0},
      {Opcode::kRelu, 0, 0},
      {Opcode::kReluGrad, 0, 0},
      {Opcode::kFloor, 0, 0},
      {Opcode::kCeil, 0, 0},
      {Opcode::kRint, 0, 0},
      {Opcode::kLess, 0, 0},
      {Opcode::kLessEqual, 0, 0},
      {Opcode::kEqual, 0, 0},
      {Opcode::kNotEqual, 0, 0},
      {Opcode::kSelect, 0, 0},
      {Opcode::kSquare, 0.5, 0.5},
      {Opcode::kAdd, 0.5, 0.5},
      {Opcode::kSub, 0.5, 0.5},
      {Opcode::kMul, 0.5, 0.5},
      {Opcode::kDiv, 0.5, 0.5},
      {Opcode::kReciprocal, 0.5, 0.5, 1e-30, 1e30, true},
      {Opcode::kSquaredDifference, 2, 2},
      {Opcode::kSigmoidGrad, 2, 2, 0, 1},
      {Opcode::kTanhGrad, 2, 2, -1, 1},
      {Opcode::kSqrtGrad, 2, 2, 0.01, 10},
      {Opcode::kRsqrtGrad, 3, 3, 0.01, 10},
      {Opcode::kReciprocalGrad, 2, 2},
      {Opcode::kMulAdd, 2, 2},
      {Opcode::kMulSubFrom, 2, 2},
      {Opcode::kExp, 2, 2, -80, 80},
      {Opcode::kExp, 2, 2, 1e-10, 1, true},
      {Opcode::kSqrt, 3, 3, 1e-30, 1e30, true},
      {Opcode::kRsqrt, 3.5, 3.5, 1e-30, 1e30, true},
      {Opcode::kExpm1, 5, 3.5, -80, 80},
      {Opcode::kExpm1, 5, 3.5, 1e-20, 1, true},
      {Opcode::kLog, 3.5, 2, 1e-37, 1e37, true},
      {Opcode::kLog, 3.5, 2, 0.5, 2},
      {Opcode::kLog1p, 5, 3, 1e-30, 1e30, true},
      {Opcode::kLog1p, 5, 3, -0.99, 0},
      {Opcode::kErf, 5, 3.5, -6, 6},
      {Opcode::kErf, 5, 3.5, 1e-20, 1, true},
      {Opcode::kErfc, 7, 9.5, -6, 1},
      {Opcode::kErfc, 7, 9.5, 0.5, 9},
      {Opcode::kSin, 2.5, 2.5, -1e6, 1e6},
      {Opcode::kSin, 2.5, 2.5, -4, 4},
      {Opcode::kCos, 2.5, 2.5, -1e6, 1e6},
      {Opcode::kCos, 2.5, 2.5, -4, 4},
      {Opcode::kTanh, 5.5, 6.5, -10, 10},
      {Opcode::kTanh, 5.5, 6.5, 1e-30, 1, true},
      {Opcode::kTanhOfSum, 5.5, 6.5},
      {Opcode::kPow, 1.5, 2, 1e-5, 1e5, true},
      {Opcode::kSigmoid, 6.5, 2.5, -80, 20},
      {Opcode::kSigmoidOfSum, 6.5, 2.5},
  };
  return *all;
}

// Returns the distance of numbers of type T of that size.
template <typename T>
long double UnitInLastPlace(long double size) {
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits);
}

// Returns the size of which errors are a part: of the result; of the largest
// term where terms may cancel each other; of 1 for what goes through 0.
template <typename T>
long double ScaleOf(Opcode opcode, long double a, long double b, long double c,
                    long double wanted) {
  switch (opcode) {
    case Opcode::kSigmoidGrad:
      return std::fabs(a * b);
    case Opcode::kTanhGrad:
      return std::fabs(b);
    case Opcode::kMulAdd:
    case Opcode::kMulSubFrom:
      return std::max(std::fabs(a * b), std::fabs(c));
    case Opcode::kSin:
    case Opcode::kCos:
      return 1;
    default:
      return std::fabs(wanted);
  }
}

// What the kernel rounds before it begins with the function is no error of it.
template <typename T>
long double WantedOf(Opcode opcode, T a, T b, T c) {
  const T sum = a + b;
  if (opcode == Opcode::kSigmoidOfSum) {
    return Compute<long double>(Opcode::kSigmoid, sum, 0, 0);
  }
  if (opcode == Opcode::kTanhOfSum) {
    return Compute<long double>(Opcode::kTanh, sum, 0, 0);
  }
  return Compute<long double>(opcode, a, b, c);
}

template <typename T>
Columns<T> Draw(const Accuracy& accuracy, std::mt19937* random) {
  constexpr int kCount = 20'000;
  const bool is_log = accuracy.is_log;
  std::uniform_real_distribution<double> distribution(
      is_log ? std::log(accuracy.low) : accuracy.low,
      is_log ? std::log(accuracy.high) : accuracy.high);
  Columns<T> numbers(kCount);
  for (T& number : numbers) {
    const double drawn = distribution(*random);
    number = static_cast<T>(is_log ? std::exp(drawn) : drawn);
  }
  return numbers;
}

template <typename T>
void CheckAccuracy(const Kernels<T>& kernels, const Accuracy& accuracy) {
  std::mt19937 random(static_cast<uint32_t>(kernels.lanes));
  const Columns<T> a = Draw<T>(accuracy, &random);
  const Columns<T> b = Draw<T>({accuracy.opcode, 0, 0}, &random);
  const Columns<T> c = Draw<T>({accuracy.opcode, 0, 0}, &random);
  const Columns<T> found = RunOpcode(kernels, accuracy.opcode, a, b, c);
  long double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const long double wanted = WantedOf(accuracy.opcode, a[i], b[i], c[i]);
    const long double unit = UnitInLastPlace<T>(
        ScaleOf<T>(accuracy.opcode, a[i], b[i], c[i], wanted));
    const long double error = std::fabs(found[i] - wanted) / unit;
    if (error <= worst) continue;
    worst = error;
    where = i;
  }
  EXPECT_LE(worst, sizeof(T) == 4 ? accuracy.for_float : accuracy.for_double)
      << NameOf(accuracy.opcode) << " of " << a[where] << ", " << b[where]
      << ", " << c[where] << " is " << found[where];
}

TEST(KernelAccuracyTest, EachInstructionIsAsAccurateAsTheHeaderSays) {
  ForAllKernels([](const auto& kernels) {
    for (const Accuracy& accuracy : Accuracies()) {
      CheckAccuracy(kernels, accuracy);
    }
  });
}

TEST(KernelAccuracyTest, TheAccuracyOfEachInstructionIsKnown) {
  for (const Opcode opcode : AllOpcodes()) {
    const auto is_of = [&](const Accuracy& each) {
      return each.opcode == opcode;
    };
    EXPECT_TRUE(std::any_of(Accuracies().begin(), Accuracies().end(), is_of))
        << NameOf(opcode);
  }
}

}  // namespace
}  // namespace recursive_tf
