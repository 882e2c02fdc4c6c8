#ifndef RECURSIVE_TF_CC_TF_BLOCK_VALUE_H_
#define RECURSIVE_TF_CC_TF_BLOCK_VALUE_H_

#include <cstdint>
#include <vector>

#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// A tensor of the function that is read.
struct BlockValue {
  enum class Kind : uint8_t {
    // Of the graph: rows, of numbers or of bools, which are 1 and 0; or what
    // is summed over rows.
    kRows,
    kSum,
    // Rows of whole numbers that the block computes; the graph has them as
    // numbers of its dtype.
    kWholeRows,
    // Of each row of the graph several rows, as a product of matrices takes
    // them.
    kFolded,
    // One whole number a row.
    kNumber,
    // Several of them, e.g. a seed; or a key.
    kNumbers,
    // The shape of rows, or a part of it.
    kShape,
    kInvariant,
    kLiteral,
  };

  bool is_numbers() const {
    return kind == Kind::kNumber || kind == Kind::kNumbers;
  }

  Kind kind = Kind::kRows;
  // A node of the graph, a number, or which numbers, shape, invariant or
  // literal.
  int32_t id = 0;
  // Of one row, or of all.
  std::vector<int64_t> shape;
  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
  // Rows in one row of the graph.
  int64_t num_folded = 1;
  // Of whole rows: what no number of them is beyond, below 0 either.
  int64_t most = 0;
};

// What is taken of an axis.
struct AxisRange {
  int64_t begin = 0;
  int64_t count = 0;
  int64_t stride = 1;
  // Whether the axis goes, or is one of one step that comes.
  bool is_one = false;
  bool is_new = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_VALUE_H_
