#include "recursive_tf/cc/blocks/block_invariants.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// From so many rows of a packed matrix on, panels are so narrow, and tiles that
// much higher: a product reads less of the second cache. All panels of a
// program are, because products of one phase have the same columns at a time.
constexpr int64_t kDeep = 768;
constexpr int64_t kVectorsOfDeep = 2;

int64_t MostVectors(const BlockProgram& program, int64_t max_vectors) {
  for (const MatrixUse& use : program.matrices) {
    if (use.depth >= kDeep) return std::min(max_vectors, kVectorsOfDeep);
  }
  return max_vectors;
}

}  // namespace

template <typename T>
BlockInvariants<T>::BlockInvariants(const BlockProgram* program,
                                    const Kernels<T>* kernels,
                                    const std::vector<Numbers>& invariants,
                                    Matrices matrices, Team* team)
    : shared_(program->shared.size()),
      constants_(program->constants.size()),
      place_(matrices),
      phases_(program->phases.data()) {
  const bool is_standing = matrices == Matrices::kStanding;
  const int64_t tiles_of_panel = is_standing ? 2 : 1;
  const int64_t max_vectors = is_standing
                                  ? kernels->max_vectors
                                  : MostVectors(*program, kernels->max_vectors);
  const auto split = [&](int64_t width) {
    return SplitColumns(width, team->num_threads(), kernels->lanes, max_vectors,
                        tiles_of_panel);
  };
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
  for (const MatrixUse& use : program->matrices) {
    const T* const numbers = invariants[use.invariant].data;
    if (is_standing) {
      standing_.push_back(numbers);
      continue;
    }
    packed_.emplace_back().Pack(numbers, use, split(use.segment_width),
                                *kernels, team);
  }
  for (const Phase& phase : program->phases) {
    const bool has_parts = !phase.row_product.has_value() &&
                           !phase.of_items.has_value() &&
                           !phase.look_up.has_value();
    parts_.push_back(has_parts ? split(phase.width)
                               : std::vector<ColumnPart>());
  }
}

template class BlockInvariants<float>;
template class BlockInvariants<double>;

}  // namespace recursive_tf
