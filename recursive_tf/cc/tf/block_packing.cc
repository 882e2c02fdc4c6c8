#include "recursive_tf/cc/tf/block_packing.h"

#include <memory>
#include <vector>

#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/chosen_kernels.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

namespace tf = tensorflow;

template <typename T>
std::shared_ptr<BlockInvariants<T>> InvariantsOf(
    const ReadBlock& block, const BlockProgram& program,
    const std::vector<const tf::Tensor*>& invariants, int num_threads) {
  std::vector<typename BlockInvariants<T>::Numbers> numbers;
  numbers.reserve(invariants.size() + block.literals.size());
  const auto add = [&](const tf::Tensor& tensor) {
    const bool has_numbers = tensor.dtype() == block.dtype;
    numbers.push_back(
        {has_numbers ? static_cast<const T*>(tensor.data()) : nullptr,
         tensor.NumElements()});
  };
  for (const tf::Tensor* invariant : invariants) add(*invariant);
  for (const tf::Tensor& literal : block.literals) add(literal);
  return std::make_shared<BlockInvariants<T>>(&program, &ChosenKernels<T>(),
                                              numbers, num_threads);
}

template std::shared_ptr<BlockInvariants<float>> InvariantsOf<float>(
    const ReadBlock&, const BlockProgram&,
    const std::vector<const tf::Tensor*>&, int);
template std::shared_ptr<BlockInvariants<double>> InvariantsOf<double>(
    const ReadBlock&, const BlockProgram&,
    const std::vector<const tf::Tensor*>&, int);

}  // namespace recursive_tf
