#ifndef RECURSIVE_TF_CC_TF_INVARIANTS_H_
#define RECURSIVE_TF_CC_TF_INVARIANTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Returns which arguments of `graph`, from `first_argument` on, in order, are
// matrices that products only take transposed: a third of a small product.
std::vector<int32_t> TransposedArguments(int32_t first_argument,
                                         const tensorflow::Graph& graph);

// Makes the products of `graph` take `arguments` as transposed already.
void TakeTransposed(const std::vector<int32_t>& arguments,
                    tensorflow::Graph* graph);

// What blocks take beside rows, by number, for one run: outputs of the
// prologue. A matrix is transposed once, when somebody first asks for that.
class Invariants {
 public:
  // What a block program takes of these.
  struct Placed {
    std::shared_ptr<const void> numbers;
    // Whether its matrices are not packed, because there were few rows.
    bool are_standing = false;
    // Those that ran.
    int64_t num_rows = 0;
  };

  // `tensors` must outlive this. Without `for_once` the next run may take the
  // same, so that it is worth keeping what is packed of them.
  explicit Invariants(const std::vector<tensorflow::Tensor>* tensors,
                      bool for_once = true)
      : tensors_(*tensors), for_once_(for_once) {}

  const tensorflow::Tensor& Get(size_t index) const { return tensors_[index]; }
  const tensorflow::Tensor& GetTransposed(size_t index);

  // Returns where what a block program takes is kept.
  Placed& PlacedFor(const void* program) { return placed_[program]; }
  bool for_once() const { return for_once_; }

  // Returns where a block keeps what it found out of these; null at first.
  std::shared_ptr<void>& FoundBy(const void* block) { return found_[block]; }

 private:
  const std::vector<tensorflow::Tensor>& tensors_;
  std::map<size_t, tensorflow::Tensor> transposed_;
  const bool for_once_;
  std::map<const void*, Placed> placed_;
  std::map<const void*, std::shared_ptr<void>> found_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_INVARIANTS_H_
