#ifndef RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_
#define RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/tf/row_batch.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// What a whole number is computed with; bools are 0 and 1.
enum class NumberOp : uint8_t {
  // Given: one for each row, the same for all rows, or a constant.
  kArgument,
  kInvariant,
  kConstant,
  // An element of an invariant, a vector.
  kElement,
  // Of other numbers.
  kAdd,
  kSub,
  kMul,
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
};

// A whole number for each row.
struct RowNumber {
  NumberOp op = NumberOp::kArgument;
  // Of int32, int64 or bool.
  tensorflow::DataType dtype = tensorflow::DT_INT32;
  // By number: of the arguments, or of the invariants.
  int32_t tensor = -1;
  // Numbers before this one. Of an element, the first one says which.
  std::vector<int32_t> operands{};
  int64_t constant = 0;
  // Of an element: whether it is 0 where there is none.
  bool is_zero_outside = false;
};

// Returns whether a dtype is one of whole numbers, or of bools, that can be
// computed.
bool IsWholeNumber(tensorflow::DataType dtype);

// Returns the numbers of a tensor: one for each row, or that of all rows.
std::vector<int64_t> ReadNumbers(const tensorflow::Tensor& tensor,
                                 int64_t num_rows);

// Returns the element of a tensor of whole numbers or bools at a place.
int64_t NumberAt(const tensorflow::Tensor& tensor, int64_t index);

// Sets `*found` to all numbers of all rows. Returns false if an element is out
// of range. REQUIRES: tensors of the numbers' dtypes; `rows` have `num_rows`
// rows.
bool FindNumbers(const std::vector<RowNumber>& numbers, int64_t num_rows,
                 const std::vector<RowBatch>& rows,
                 const std::vector<const tensorflow::Tensor*>& invariants,
                 std::vector<std::vector<int64_t>>* found);

// Returns numbers as a tensor with an element for each.
tensorflow::Tensor AsTensor(const std::vector<int64_t>& numbers,
                            tensorflow::DataType dtype);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_NUMBERS_H_
