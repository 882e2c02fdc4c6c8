#ifndef RECURSIVE_TF_CC_BLOCKS_ADDED_PRODUCTS_H_
#define RECURSIVE_TF_CC_BLOCKS_ADDED_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Products that are rows of an output of which some are only added up, as the
// gradients of a leaf are that many nodes have for a child. The rows of a group
// are added up first, and multiplied once: a W + b W = (a + b) W. That is the
// group's first row of the output, and its others are 0.
//
// Thread safety: one run at a time for each object.
template <typename T>
class AddedProducts {
 public:
  // All of them must outlive this.
  AddedProducts(const BlockProgram* program, const Kernels<T>* kernels,
                const BlockInvariants<T>* invariants,
                const PlacedRows<T>* placed, Team* team)
      : program_(*program),
        kernels_(*kernels),
        invariants_(*invariants),
        placed_(*placed),
        team_(*team) {}

  // Computes a product of a phase, if that spares work. Returns whether it did.
  bool Run(const Phase& phase, size_t product);

  // Returns how many operations were spared so far, as product_peak.h counts.
  int64_t num_flops_spared() const { return num_flops_spared_; }

 private:
  // Columns [begin, end) of a product, and which rows are added up there; none
  // if `groups` has none.
  struct Columns {
    int64_t begin;
    int64_t end;
    const EqualRows* groups;
  };
  class Rows;

  std::vector<Columns> ColumnsOf(const ProductStep& step, int64_t width) const;
  int64_t NumRows(const Phase& phase, const Columns& columns) const;
  // Returns whether it pays to compute columns by groups.
  bool Pays(const Phase& phase, const std::vector<Columns>& all) const;
  void Multiply(const Phase& phase, const ProductStep& step,
                const Columns& columns);
  // Sets rows [begin, end) of some columns, which are `rows` times a matrix.
  void MultiplyRows(const Phase& phase, const ProductStep& step,
                    const Columns& columns, const Rows& rows, int64_t begin,
                    int64_t end) const;
  // Sets those to 0 that are not the first of a group.
  void ClearOthers(const ProductStep& step, const Columns& columns);

  const BlockProgram& program_;
  const Kernels<T>& kernels_;
  const BlockInvariants<T>& invariants_;
  const PlacedRows<T>& placed_;
  Team& team_;
  int64_t num_flops_spared_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ADDED_PRODUCTS_H_
