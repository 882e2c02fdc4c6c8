#ifndef RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_H_
#define RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_H_

#include <cstdint>
#include <vector>

namespace recursive_tf {

// Something that is known of a launch when it is replayed: a value that it
// kept, the gradient of one of its outputs, or a result of its backward block.
struct Replayed {
  enum class Kind : uint8_t { kKept, kCotangent, kBackward };

  Kind kind = Kind::kKept;
  int32_t index = 0;
};

// How a block is differentiated. Its backward block runs once for each launch
// and gives the gradients of inputs. What only gradients of the prologue's
// outputs need is deferred: it runs once for all rows of all launches.
struct BlockGradient {
  // How many outputs the block has in training form beside its own.
  int32_t num_extras = 0;
  // What a launch keeps: the block's inputs by number, then its outputs.
  std::vector<int32_t> kept;

  bool has_backward = false;
  bool has_deferred = false;
  // The backward block takes some of what is kept, then gradients of outputs.
  std::vector<int32_t> tape;
  std::vector<int32_t> cotangents;
  // It returns gradients of these inputs, then what the deferred block takes.
  std::vector<int32_t> input_gradients;
  std::vector<Replayed> deferred;
};

// By block.
using GradientPlan = std::vector<BlockGradient>;

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_GRADIENT_PLAN_H_
