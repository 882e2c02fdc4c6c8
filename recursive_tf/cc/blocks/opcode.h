#ifndef RECURSIVE_TF_CC_BLOCKS_OPCODE_H_
#define RECURSIVE_TF_CC_BLOCKS_OPCODE_H_

#include <cstdint>
#include <tuple>

namespace recursive_tf {

// What an element-wise instruction computes of up to three numbers a, b and c.
// X(name, number of operands).
#define RECURSIVE_TF_OPCODES(X)                                             \
  X(kCopy, 1)                                                               \
  X(kNeg, 1)                                                                \
  X(kAbs, 1)                                                                \
  X(kSquare, 1)                                                             \
  X(kSqrt, 1)                                                               \
  X(kRsqrt, 1)                                                              \
  X(kReciprocal, 1)                                                         \
  X(kExp, 1)                                                                \
  X(kExpm1, 1)                                                              \
  X(kLog, 1)                                                                \
  X(kLog1p, 1)                                                              \
  X(kErf, 1)                                                                \
  X(kErfc, 1)                                                               \
  X(kSin, 1)                                                                \
  X(kCos, 1)                                                                \
  X(kTanh, 1)                                                               \
  X(kSigmoid, 1)                                                            \
  X(kRelu, 1)                                                               \
  /* Whole numbers; kRint the even one if two are as near. */               \
  X(kFloor, 1)                                                              \
  X(kCeil, 1)                                                               \
  X(kRint, 1)                                                               \
  X(kAdd, 2)                                                                \
  X(kSub, 2)                                                                \
  X(kMul, 2)                                                                \
  X(kDiv, 2)                                                                \
  X(kMax, 2)                                                                \
  X(kMin, 2)                                                                \
  X(kSquaredDifference, 2)                                                  \
  X(kPow, 2)                                                                \
  /* 1 where it is so, else 0. */                                           \
  X(kLess, 2)                                                               \
  X(kLessEqual, 2)                                                          \
  X(kEqual, 2)                                                              \
  X(kNotEqual, 2)                                                           \
  /* Of the result a of a function, or its input a, and of a gradient b. */ \
  X(kSigmoidGrad, 2)                                                        \
  X(kTanhGrad, 2)                                                           \
  X(kSqrtGrad, 2)                                                           \
  X(kRsqrtGrad, 2)                                                          \
  X(kReciprocalGrad, 2)                                                     \
  X(kReluGrad, 2)                                                           \
  /* What a compiler makes of two of the above. */                          \
  X(kSigmoidOfSum, 2)                                                       \
  X(kTanhOfSum, 2)                                                          \
  X(kMulAdd, 3)     /* a * b + c */                                         \
  X(kMulSubFrom, 3) /* c - a * b */                                         \
  X(kSelect, 3)     /* b, where a is 0, c */

enum class Opcode : uint8_t {
#define RECURSIVE_TF_OPCODE(name, arity) name,
  RECURSIVE_TF_OPCODES(RECURSIVE_TF_OPCODE)
#undef RECURSIVE_TF_OPCODE
};

// Returns how many operands an instruction has.
constexpr int Arity(Opcode opcode) {
  constexpr int8_t kArities[] = {
#define RECURSIVE_TF_OPCODE(name, arity) arity,
      RECURSIVE_TF_OPCODES(RECURSIVE_TF_OPCODE)
#undef RECURSIVE_TF_OPCODE
  };
  return kArities[static_cast<int>(opcode)];
}

// What is computed of all numbers of a row: each gives one number.
enum class Reduction : uint8_t { kSum, kMean, kMax, kMin };

// A product of two matrices that stand in rows: of num_rows x depth and
// depth x num_columns numbers. Its rows stand one behind the other.
struct RowProductShape {
  friend bool operator<(const RowProductShape& a, const RowProductShape& b) {
    return a.AsTuple() < b.AsTuple();
  }
  friend bool operator==(const RowProductShape& a, const RowProductShape& b) {
    return a.AsTuple() == b.AsTuple();
  }

  std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, bool> AsTuple()
      const {
    return {num_rows, depth,       num_columns,
            left_row, left_column, is_right_by_columns};
  }

  int64_t num_rows = 0;
  int64_t depth = 0;
  int64_t num_columns = 0;
  // Of the left matrix: from one row to the next, and from one column.
  int64_t left_row = 0;
  int64_t left_column = 0;
  // Whether the right one stands column by column, and not row by row. Then the
  // left one stands row by row.
  bool is_right_by_columns = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_OPCODE_H_
