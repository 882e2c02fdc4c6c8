#ifndef RECURSIVE_TF_CC_BLOCKS_KERNELS_H_
#define RECURSIVE_TF_CC_BLOCKS_KERNELS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

// Rows of numbers, wherever they stand: each at an address of its own, or one
// `stride` behind the other; with a stride of 0 all are the same.
template <typename T>
struct RowSet {
  [[gnu::always_inline]] T* row(int64_t i) const {
    return (rows != nullptr ? rows[i] : first + i * stride) + offset;
  }
  // The same rows, from a column on.
  RowSet From(int64_t column) const {
    return {first, stride, rows, offset + column};
  }

  T* first = nullptr;
  int64_t stride = 0;
  T* const* rows = nullptr;
  int64_t offset = 0;
};

// One instruction for a strip: operands are numbers of row sets. A reduction
// has one operand, and gives its result in all columns.
struct Instruction {
  bool is_reduction = false;
  Opcode opcode = Opcode::kCopy;
  Reduction reduction = Reduction::kSum;
  // Whether the operand has one column, which stands for all; or the result.
  bool spreads = false;
  bool narrows = false;
  int32_t out = 0;
  int32_t in[3] = {0, 0, 0};
};

// Element-wise work on rows [begin, end) and `width` columns of `sets`; or on
// columns [begin, end) and `width` rows, if sets are transposed.
template <typename T>
struct TailWork {
  const Instruction* code;
  int64_t num_instructions;
  const RowSet<T>* sets;
  int64_t begin;
  int64_t end;
  int64_t width;
  bool are_columns = false;
};

// Copies columns of a matrix, or of its transpose, to a panel.
template <typename T>
struct PackWork {
  // Where the panel's first column begins; as a column of the transpose, it is
  // a row.
  const T* from;
  int64_t stride;
  bool is_transposed;
  int64_t depth;
  int64_t num_columns;
  int64_t num_vectors;
  T* to;
};

// Rows that products take: each is the sequence of some pieces.
template <typename T>
struct PiecedRows {
  // By row and piece.
  const T* const* pieces;
  const int64_t* lengths;
  int64_t num_pieces;
  int64_t num_rows;
};

// A product of rows with one panel of a matrix: at most `max_vectors` vectors
// of its columns; twice as many where it stands.
template <typename T>
struct PanelWork : PiecedRows<T> {
  const T* panel;
  int64_t num_vectors;
  // Numbers from one row of the panel to the next, where it stands; 0 if it is
  // packed.
  int64_t panel_stride;
  T* out;
  int64_t out_stride;
  // Of the panel's columns those that are written.
  int64_t num_columns;
  // The pieces, of the first 64, that are there as their products: bit by bit.
  // These are added, of each row from a column on; whole vectors are read.
  uint64_t known = 0;
  int64_t known_column = 0;
};

// A product of rows with some columns of a matrix whose transpose is there, so
// that each column is a row of it.
template <typename T>
struct DotWork : PiecedRows<T> {
  const T* columns;
  // Numbers from one column to the next.
  int64_t stride;
  T* out;
  int64_t out_stride;
  int64_t num_columns;
};

// Copies columns of rows [begin, end) to groups of `max_rows` columns, as sums
// of outer products read their left side: group after group, each with `depth`
// rows, one behind the other.
template <typename T>
struct GroupWork {
  RowSet<T> from;
  int64_t begin;
  int64_t end;
  int64_t num_columns;
  int64_t depth;
  // Where in the groups the first of the columns goes.
  int64_t first;
  T* to;
};

// sum over rows k of left[k][i] * right[k][j], set or added to out[i][j], for
// the first `num_left` columns i of a group, and a panel's columns j.
template <typename T>
struct OuterWork {
  // Rows of `max_rows` numbers, one behind the other.
  const T* left;
  // Rows of `num_vectors` vectors, one behind the other.
  const T* right;
  int64_t depth;
  int64_t num_left;
  int64_t num_vectors;
  T* out;
  int64_t out_stride;
  // Of the panel's columns those that are written.
  int64_t num_columns;
  // Whether `out` has sums already.
  bool adds;
};

// Products of two matrices of each of rows [begin, end).
template <typename T>
struct RowProductWork {
  RowProductShape shape;
  RowSet<T> left;
  RowSet<T> right;
  RowSet<T> out;
  int64_t begin;
  int64_t end;
};

// How windows lie along the height or the width of images.
struct WindowGrid {
  int64_t num_pixels;
  int64_t num_windows;
  // Pixels of a window, those beyond the image included.
  int64_t size;
  // Pixels from the beginning of a window to that of the next one.
  int64_t stride;
  // Pixels of the first window before the image.
  int64_t padding;
};

// The gradient of max pooling, for rows of pixels [begin, end), counted through
// all images: the first of the largest numbers of a window gets its gradient.
// Other rows that a window reaches are read, and not written.
//
// Numbers are [image, pixel of the height, pixel of the width, channel].
template <typename T>
struct PoolGradientWork {
  WindowGrid height;
  WindowGrid width;
  int64_t num_channels;
  // Whether only a number above 0 gets something, as the gradient of kRelu.
  bool of_relu;
  const T* images;
  // Of windows.
  const T* gradient;
  // Of pixels.
  T* gradients;
  int64_t begin;
  int64_t end;
};

// The most pixels of a window: they are counted in a float.
inline constexpr int64_t kMaxWindowSize = int64_t{1} << 24;

// The code of one instruction set. Thread safety: all functions are pure.
//
// Accuracy of instructions, in units in the last place, of a float and of a
// double; it is that of Eigen's packets, and kernel_accuracy_test.cc holds it:
//   0.5       kAdd, kSub, kMul, kDiv, kSquare, kReciprocal
//   1.5, 2    kPow
//   2         kSquaredDifference, gradients but for kRsqrtGrad, kMulAdd,
//             kMulSubFrom, kExp
//   3         kRsqrtGrad, kSqrt (0.5 but for AVX-512)
//   3.5       kRsqrt
//   3.5, 2    kLog
//   5, 3.5    kExpm1
//   5, 3      kLog1p
//   5, 3.5    kErf
//   7, 9.5    kErfc
//   5.5, 6.5  kTanh
//   6.5, 2.5  kSigmoid
//   2.5       kSin, kCos, of 1, for numbers up to a million
// Where terms may cancel each other, the unit is that of the larger one. What
// chooses a number is exact. NaN in an operand gives NaN, and infinity the
// function's limit; kMax, kMin and kRelu pass NaN on, and kReluGrad lets
// nothing through where its input is not above 0. Denormal numbers are kept,
// unless the thread flushes them, as TensorFlow's do.
template <typename T>
struct Kernels {
  const char* name;
  // Numbers in a vector; vectors and rows that a product holds in registers.
  int64_t lanes;
  int64_t max_vectors;
  int64_t max_rows;
  void (*pack)(const PackWork<T>&);
  void (*group)(const GroupWork<T>&);
  void (*tail)(const TailWork<T>&);
  void (*panel)(const PanelWork<T>&);
  void (*dots)(const DotWork<T>&);
  void (*outer)(const OuterWork<T>&);
  void (*row_product)(const RowProductWork<T>&);
  void (*pool_gradient)(const PoolGradientWork<T>&);
};

// The instruction sets that code is there for, the best first.
enum class InstructionSet : uint8_t { kAvx512, kAvx2, kPortable };

// Returns those that this processor has; the last is always there.
const std::vector<InstructionSet>& InstructionSets();

// Returns the one of that name, e.g. "avx2", or the best without a name; none
// if this processor lacks it, or if there is none of that name.
std::optional<InstructionSet> InstructionSetOf(const std::string& name);

// Returns the code for one of them; T is float or double.
template <typename T>
const Kernels<T>& KernelsFor(InstructionSet set);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_KERNELS_H_
