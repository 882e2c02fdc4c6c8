#ifndef RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_
#define RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// What a whole number is computed with; bools are 0 and 1.
enum class NumberOp : uint8_t {
  // Given: with each row, the same for all rows, or a constant.
  kArgument,
  kInvariant,
  kConstant,
  // A number of a row of an invariant.
  kElement,
  // Of other numbers.
  kAdd,
  kSub,
  kMul,
  kFloorDiv,
  kFloorMod,
  kMax,
  kMin,
  kNeg,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kNot,
  kSelect,
  kCast,
  // The two halves of a word of 64 bits.
  kLowHalf,
  kHighHalf,
  // Keys of random numbers: RecursiveMixKey of two numbers; what
  // RecursiveKeyRows gives for a seed of two, but for a counter's first word,
  // which is 0.
  kMixKey,
  kKeyOfSeed,
  kCounterOfSeed,
  // The first operand, which is at least 0 and less than the constant, or than
  // the invariant has rows. If there is a second one, only where that is not 0.
  kInside,
  // Of lists as long as the operand says, whose items stand one after the
  // other: the number of the list that each item is in, and of each item in it.
  kOwner,
  kPosition,
  // For each item the first operand of the list that is the second one.
  kOfOwner,
};

// Returns what an op of TensorFlow computes of whole numbers; none if it is no
// such op.
std::optional<NumberOp> NumberOpOf(const std::string& type);

// A whole number for each row.
struct RowNumber {
  // Returns whether its rows are other ones than those of its operands.
  bool is_of_list() const {
    return op == NumberOp::kOwner || op == NumberOp::kPosition ||
           op == NumberOp::kOfOwner;
  }

  NumberOp op = NumberOp::kArgument;
  // Of int32, int64 or bool; of keys and what they are made of, an unsigned
  // one.
  tensorflow::DataType dtype = tensorflow::DT_INT32;
  // By number: of the arguments, or of the invariants.
  int32_t tensor = -1;
  // Numbers before this one. Of an element, the first one says which.
  std::vector<int32_t> operands{};
  // Or a bound.
  int64_t constant = 0;
  // Of an element: whether it is 0 where there is none.
  bool is_zero_outside = false;
  // That the rows stand along: BlockGraph says more of axes.
  int32_t axis = -1;
  // Of an argument or a table: which number of a row it is, of how many.
  int32_t column = 0;
  int32_t num_columns = 1;
};

// Returns whether a dtype is one of whole numbers, or of bools, that can be
// computed.
bool IsWholeNumber(tensorflow::DataType dtype);

// Returns whether a dtype is that of a key, whose bits are a number here.
bool IsKey(tensorflow::DataType dtype);

// Returns whether a dtype is one that a RowNumber may have. Those of 8 and 16
// bits are not: nothing here cuts off a number as they do, or writes it so.
bool IsNumber(tensorflow::DataType dtype);

// Sets `*numbers` to those of a tensor: one for each row, or that of all rows.
void ReadNumbers(const tensorflow::Tensor& tensor, int64_t num_rows,
                 std::vector<int64_t>* numbers);

// Returns the element of a tensor of whole numbers or bools at a place.
int64_t NumberAt(const tensorflow::Tensor& tensor, int64_t index);

// Sets `*found` to all numbers of all rows; its memory is used again. Of those
// without an axis, which nothing reads, there are none.
// `*num_rows` are by axis, -1 where numbers say how many items there are, and
// all known then. Returns false if an element is out of range, if a divisor is
// 0, or if lists have other items than there are. REQUIRES: tensors of the
// numbers' dtypes, with as many rows as their axes.
bool FindNumbers(const std::vector<RowNumber>& numbers,
                 const std::vector<RowBatch>& rows,
                 const std::vector<const tensorflow::Tensor*>& invariants,
                 std::vector<int64_t>* num_rows,
                 std::vector<std::vector<int64_t>>* found);

// Returns rows, of some of all numbers each, as a vector of all their elements.
tensorflow::Tensor AsTensor(const std::vector<std::vector<int64_t>>& numbers,
                            const std::vector<int32_t>& of_row,
                            tensorflow::DataType dtype);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_
