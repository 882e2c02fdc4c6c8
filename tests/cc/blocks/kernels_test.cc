#include "recursive_tf/cc/blocks/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tests/cc/blocks/evaluate.h"
#include "tests/cc/blocks/run_row.h"

namespace recursive_tf {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// ---- Special numbers.

template <typename T>
void Checspecial(const Kernels<T>& kernels, Opcode opcode, double a, double b) {
  const T x = static_cast<T>(a);
  const T y = static_cast<T>(b);
  const Columns<T> found =
      RunOpcode(kernels, opcode, Columns<T>{x}, Columns<T>{y}, Columns<T>{y});
  T wanted = Compute<T>(opcode, x, y, y);
  // The standard library's take the other one.
  const bool chooses = opcode == Opcode::kMax || opcode == Opcode::kMin ||
                       opcode == Opcode::kRelu;
  const bool has_nan = std::isnan(a) || (Arity(opcode) > 1 && std::isnan(b));
  if (chooses && has_nan) wanted = static_cast<T>(kNaN);
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(found[0]))
        << NameOf(opcode) << " of " << a << ", " << b << " is " << found[0];
  } else {
    EXPECT_EQ(found[0], wanted) << NameOf(opcode) << " of " << a << ", " << b;
  }
}

TEST(KernelsTest, NanAndInfinityAreWhatTheStandardLibraryMakesOfThem) {
  const double special[] = {kNaN, kInfinity, -kInfinity, 0.0, -0.0};
  ForAllKernels([&](const auto& kernels) {
    for (const Opcode opcode : AllOpcodes()) {
      // Of a result between 0 and 1, which is never infinite.
      if (opcode == Opcode::kSigmoidGrad) continue;
      for (const double a : special) {
        for (const double b : special) Checspecial(kernels, opcode, a, b);
      }
    }
    for (const double b : special) {
      Checspecial(kernels, Opcode::kSigmoidGrad, 0.5, b);
      Checspecial(kernels, Opcode::kSigmoidGrad, kNaN, b);
    }
  });
}

TEST(KernelsTest, FunctionsOfLargeNumbersAreTheirLimits) {
  ForAllKernels([](const auto& kernels) {
    for (const double large : {1e3, 1e30}) {
      Checspecial(kernels, Opcode::kTanh, large, 0);
      Checspecial(kernels, Opcode::kTanh, -large, 0);
      Checspecial(kernels, Opcode::kSigmoid, large, 0);
      Checspecial(kernels, Opcode::kSigmoid, -large, 0);
      Checspecial(kernels, Opcode::kExp, large, 0);
      Checspecial(kernels, Opcode::kExp, -large, 0);
      Checspecial(kernels, Opcode::kExpm1, large, 0);
      Checspecial(kernels, Opcode::kExpm1, -large, 0);
    }
    Checspecial(kernels, Opcode::kLog, -1, 0);
    Checspecial(kernels, Opcode::kSqrt, -1, 0);
    Checspecial(kernels, Opcode::kLog1p, -1, 0);
  });
}

template <typename T>
void CheckDenormal(const Kernels<T>& kernels) {
  const T least = std::numeric_limits<T>::denorm_min();
  const Columns<T> small = {least, 1000 * least};
  for (const Opcode opcode :
       {Opcode::kCopy, Opcode::kAdd, Opcode::kMax, Opcode::kTanh, Opcode::kSin,
        Opcode::kExpm1, Opcode::kLog1p}) {
    const Columns<T> found = RunOpcode(kernels, opcode, small, small, small);
    for (size_t i = 0; i < small.size(); ++i) {
      EXPECT_EQ(found[i], Compute<T>(opcode, small[i], small[i], 0))
          << NameOf(opcode);
    }
  }
  // Denormal itself, with the few digits that such numbers have.
  const Columns<T> low = {sizeof(T) == 4 ? T(-100) : T(-740)};
  for (const Opcode opcode : {Opcode::kExp, Opcode::kSigmoid}) {
    const T wanted = static_cast<T>(Compute<long double>(opcode, low[0], 0, 0));
    EXPECT_NEAR(RunOpcode(kernels, opcode, low, low, low)[0], wanted, 2 * least)
        << NameOf(opcode);
  }
}

TEST(KernelsTest, DenormalNumbersAreKept) {
  ForAllKernels([](const auto& kernels) { CheckDenormal(kernels); });
}

// ---- Widths.

constexpr int kSentinel = 77;

template <typename T>
void CheckWidths(const Kernels<T>& kernels, Opcode opcode) {
  for (int64_t width = 1; width <= 2 * kernels.lanes + 1; ++width) {
    // As long as they are wide, so that a sanitizer sees who reads beyond.
    const Columns<T> operand(width, T(0.5));
    Columns<T> out(width + kernels.lanes, T(kSentinel));
    Instruction instruction;
    instruction.opcode = opcode;
    const std::vector<const Columns<T>*> operands = {&operand, &operand,
                                                     &operand};
    RunRow(kernels, instruction, &out, operands);
    const T wanted = RunOpcode(kernels, opcode, Columns<T>{T(0.5)},
                               Columns<T>{T(0.5)}, Columns<T>{T(0.5)})[0];
    EXPECT_EQ(std::count(out.begin(), out.begin() + width, wanted), width)
        << NameOf(opcode) << " of " << width << " columns";
    EXPECT_EQ(std::count(out.begin() + width, out.end(), T(kSentinel)),
              kernels.lanes)
        << NameOf(opcode) << " of " << width << " columns";
  }
}

TEST(KernelsTest, NothingIsWrittenBesideTheColumns) {
  ForAllKernels([](const auto& kernels) {
    for (const Opcode opcode : AllOpcodes()) CheckWidths(kernels, opcode);
  });
}

template <typename T>
void CheckInPlace(const Kernels<T>& kernels, Opcode opcode) {
  Columns<T> row(2 * kernels.lanes + 1, T(0.25));
  const Columns<T> wanted = RunOpcode(kernels, opcode, row, row, row);
  Instruction instruction;
  instruction.opcode = opcode;
  RunRow(kernels, instruction, &row, {&row, &row, &row});
  EXPECT_EQ(row, wanted) << NameOf(opcode);
}

TEST(KernelsTest, AnInstructionMayWriteToItsOperands) {
  ForAllKernels([](const auto& kernels) {
    for (const Opcode opcode : AllOpcodes()) CheckInPlace(kernels, opcode);
  });
}

// ---- Reductions.

template <typename T>
T Reduced(const Kernels<T>& kernels, Reduction reduction,
          const Columns<T>& row) {
  Columns<T> out(row.size() + kernels.lanes, T(kSentinel));
  Instruction instruction;
  instruction.is_reduction = true;
  instruction.reduction = reduction;
  RunRow(kernels, instruction, &out, {&row});
  const auto end = out.begin() + static_cast<int64_t>(row.size());
  EXPECT_EQ(std::count(end, out.end(), T(kSentinel)), kernels.lanes);
  // It is in all columns; NaN is equal to nothing.
  if (!std::isnan(out[0])) {
    EXPECT_EQ(std::count(out.begin(), end, out[0]), end - out.begin());
  }
  return out[0];
}

template <typename T>
void CheckReductions(const Kernels<T>& kernels) {
  std::mt19937 random(static_cast<uint32_t>(kernels.lanes));
  std::uniform_real_distribution<T> distribution(-1, 1);
  for (int64_t width = 1; width <= 3 * kernels.lanes + 1; ++width) {
    SCOPED_TRACE(width);
    Columns<T> row(width);
    for (T& number : row) number = distribution(random);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    const double most =
        static_cast<double>(width) * std::numeric_limits<T>::epsilon();
    EXPECT_NEAR(Reduced(kernels, Reduction::kSum, row), sum, most);
    EXPECT_NEAR(Reduced(kernels, Reduction::kMean, row), sum / width, most);
    EXPECT_EQ(Reduced(kernels, Reduction::kMax, row),
              *std::max_element(row.begin(), row.end()));
    EXPECT_EQ(Reduced(kernels, Reduction::kMin, row),
              *std::min_element(row.begin(), row.end()));
  }
}

TEST(KernelsTest, ReductionsTakeAllColumns) {
  ForAllKernels([](const auto& kernels) { CheckReductions(kernels); });
}

template <typename T>
void CheckReductionsOfNan(const Kernels<T>& kernels) {
  const int64_t width = 2 * kernels.lanes + 3;
  for (int64_t i = 0; i < width; ++i) {
    Columns<T> row(width, T(1));
    row[i] = static_cast<T>(kNaN);
    for (const Reduction reduction : {Reduction::kSum, Reduction::kMean,
                                      Reduction::kMax, Reduction::kMin}) {
      EXPECT_TRUE(std::isnan(Reduced(kernels, reduction, row)))
          << "column " << i;
    }
    row[i] = static_cast<T>(-kInfinity);
    EXPECT_EQ(Reduced(kernels, Reduction::kMax, row), T(1));
    EXPECT_EQ(Reduced(kernels, Reduction::kMin, row), row[i]);
    EXPECT_EQ(Reduced(kernels, Reduction::kSum, row), row[i]);
  }
}

TEST(KernelsTest, NanInAnyColumnIsNan) {
  ForAllKernels([](const auto& kernels) { CheckReductionsOfNan(kernels); });
}

template <typename T>
void CheckSpread(const Kernels<T>& kernels) {
  const int64_t width = kernels.lanes + 3;
  const Columns<T> column = {T(5)};
  Columns<T> out(width + 1, T(kSentinel));
  const RowSet<T> sets[] = {{out.data(), 0},
                            {const_cast<T*>(column.data()), 0}};
  Instruction instruction;
  instruction.in[0] = 1;
  instruction.spreads = true;
  kernels.tail({&instruction, 1, sets, 0, 1, width});
  EXPECT_EQ(std::count(out.begin(), out.end(), T(5)), width);
  EXPECT_EQ(out[width], T(kSentinel));
  // And back: one column of many.
  instruction.spreads = false;
  instruction.narrows = true;
  Columns<T> one(2, T(kSentinel));
  const RowSet<T> back[] = {{one.data(), 0}, {out.data(), 0}};
  kernels.tail({&instruction, 1, back, 0, 1, width});
  EXPECT_EQ(one, (Columns<T>{T(5), T(kSentinel)}));
}

TEST(KernelsTest, OneColumnIsSpreadOverAllAndTakenBack) {
  ForAllKernels([](const auto& kernels) { CheckSpread(kernels); });
}

// ---- Instruction sets.

TEST(KernelsTest, ThePortableSetIsAlwaysThere) {
  EXPECT_EQ(InstructionSets().back(), InstructionSet::kPortable);
  ForAllKernels([](const auto& kernels) {
    EXPECT_GE(kernels.lanes, 2);
    EXPECT_GE(kernels.max_vectors, 2);
  });
}

TEST(KernelsTest, EachSetHasAName) {
  for (const InstructionSet set : InstructionSets()) {
    EXPECT_EQ(InstructionSetOf(KernelsFor<float>(set).name), set);
    EXPECT_STREQ(KernelsFor<float>(set).name, KernelsFor<double>(set).name);
  }
}

TEST(KernelsTest, WithoutANameItIsTheBest) {
  EXPECT_EQ(InstructionSetOf(""), InstructionSets().front());
}

TEST(KernelsTest, OtherNamesAreThoseOfNone) {
  EXPECT_FALSE(InstructionSetOf("sse9").has_value());
  EXPECT_FALSE(InstructionSetOf("AVX2").has_value());
}

}  // namespace
}  // namespace recursive_tf
