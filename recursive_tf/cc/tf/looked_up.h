#ifndef RECURSIVE_TF_CC_TF_LOOKED_UP_H_
#define RECURSIVE_TF_CC_TF_LOOKED_UP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// A table that all activations share.
struct LookedUpTable {
  static constexpr int32_t kConstant = -1;

  // A comparison with a number: an op of TensorFlow.
  struct Comparison {
    std::string op;
    int32_t number = 0;
  };

  // Returns the table, given what it is of.
  tensorflow::Tensor From(const tensorflow::Tensor& numbers) const;

  // What it is, or what is compared: an invariant of a block, or a constant.
  int32_t invariant = kConstant;
  tensorflow::Tensor constant;
  // If its rows are not what stands there, but whether that is so.
  std::optional<Comparison> comparison;
};

// Returns of each result of a block's function which table it is a row of, if
// the function does nothing but look up rows at the number that is its only
// other argument, and compare some; or none. A visit of a tree, e.g., looks up
// the children of a node, and whether there are any.
std::vector<LookedUpTable> LookedUp(const tensorflow::Graph& function);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LOOKED_UP_H_
