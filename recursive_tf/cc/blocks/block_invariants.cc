#include "recursive_tf/cc/blocks/block_invariants.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"

namespace recursive_tf {

template <typename T>
BlockInvariants<T>::BlockInvariants(const BlockProgram* program,
                                    const Kernels<T>* kernels,
                                    const std::vector<Numbers>& invariants,
                                    int num_threads)
    : shared_(program->shared.size()),
      constants_(program->constants.size()),
      matrices_(program->matrices.size()) {
  for (size_t i = 0; i < shared_.size(); ++i) {
    const SharedUse& use = program->shared[i];
    const Numbers& numbers = invariants[use.invariant];
    T* const to = shared_[i].Get(use.width);
    // It may be that of the last axes of a row, again and again.
    for (int64_t j = 0; j < use.width; ++j) {
      to[j] = numbers.data[j % numbers.size];
    }
  }
  for (size_t i = 0; i < constants_.size(); ++i) {
    std::fill_n(constants_[i].Get(program->widest_constant),
                program->widest_constant,
                static_cast<T>(program->constants[i]));
  }
  for (size_t i = 0; i < matrices_.size(); ++i) {
    const MatrixUse& use = program->matrices[i];
    matrices_[i].Prepare(invariants[use.invariant].data, use,
                         SplitColumns(use.segment_width, num_threads,
                                      kernels->lanes, kernels->max_vectors),
                         kernels);
  }
}

template <typename T>
int64_t BlockInvariants<T>::num_parts() const {
  int64_t num_parts = 0;
  for (const PackedMatrix<T>& matrix : matrices_) {
    num_parts += matrix.num_parts();
  }
  return num_parts;
}

template <typename T>
void BlockInvariants<T>::PackPart(int64_t part) {
  for (PackedMatrix<T>& matrix : matrices_) {
    if (part < matrix.num_parts()) return matrix.PackPart(part);
    part -= matrix.num_parts();
  }
}

template class BlockInvariants<float>;
template class BlockInvariants<double>;

}  // namespace recursive_tf
