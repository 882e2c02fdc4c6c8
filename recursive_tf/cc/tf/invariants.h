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
  // `tensors` must outlive this.
  explicit Invariants(const std::vector<tensorflow::Tensor>* tensors)
      : tensors_(*tensors) {}

  size_t size() const { return tensors_.size(); }
  const tensorflow::Tensor& Get(size_t index) const { return tensors_[index]; }
  const tensorflow::Tensor& GetTransposed(size_t index);

  // Returns where what a block program takes of these is kept, packed; null if
  // it is not packed yet.
  std::shared_ptr<const void>& Packed(const void* program) {
    return packed_[program];
  }

 private:
  const std::vector<tensorflow::Tensor>& tensors_;
  std::map<size_t, tensorflow::Tensor> transposed_;
  std::map<const void*, std::shared_ptr<const void>> packed_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_INVARIANTS_H_
