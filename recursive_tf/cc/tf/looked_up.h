#ifndef RECURSIVE_TF_CC_TF_LOOKED_UP_H_
#define RECURSIVE_TF_CC_TF_LOOKED_UP_H_

#include <cstdint>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// What a block's function makes of the number that is its first argument. Those
// behind it are invariants. A visit of a tree, e.g., looks up the children of a
// node.

// A table that all activations share: an invariant of the block, or a constant.
struct LookedUpTable {
  static constexpr int32_t kConstant = -1;

  int32_t invariant = kConstant;
  tensorflow::Tensor constant;
};

// Returns of each result the table that it is the row of, at that number, if
// the function does nothing else; or none.
std::vector<LookedUpTable> TablesOfRows(const tensorflow::Graph& function);

// Returns the tables in which the function looks up anything, if it computes
// whole numbers of these with ops that have no effect and take little time; or
// none.
std::vector<LookedUpTable> TablesOfNumbers(const tensorflow::Graph& function);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LOOKED_UP_H_
