#ifndef RECURSIVE_TF_CC_BLOCKS_KNOWN_PRODUCTS_H_
#define RECURSIVE_TF_CC_BLOCKS_KNOWN_PRODUCTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Products of pieces whose rows come several times in a run, as that of a leaf
// does which many nodes have for a child. Each row is multiplied once, with its
// part of the matrix. What that gives is added for each row that it comes in.
//
// Thread safety: Find by one thread, the others by any after it.
template <typename T>
class KnownProducts {
 public:
  // All of them must outlive this.
  KnownProducts(const BlockProgram* program, const Kernels<T>* kernels,
                const BlockInvariants<T>* invariants,
                const PlacedRows<T>* placed, Team* team)
      : program_(*program),
        kernels_(*kernels),
        invariants_(*invariants),
        placed_(*placed),
        team_(*team) {}

  // Multiplies what comes several times in a phase, where that spares work.
  // Forgets those of other phases.
  void Find(const Phase& phase);

  // Sets those of `pieces`, by row and piece, of which the product is known to
  // where that is: of a product of the phase, and of so many rows from `begin`
  // on. Returns which pieces these are, as PanelWork::known.
  uint64_t Take(size_t product, int64_t begin, int64_t num_rows,
                int64_t num_pieces, const T** pieces) const;

  // Returns where in what is known a panel of a matrix begins.
  int64_t ColumnOf(const MatrixUse& use, int64_t segment,
                   const Panel& panel) const {
    return segment * SegmentStride(use) + panel.first_column;
  }

  // Returns how many operations were spared so far, as product_peak.h counts.
  int64_t num_flops_spared() const { return num_flops_spared_; }

 private:
  struct Known {
    size_t product = 0;
    int32_t piece = 0;
    // Which rows are one, and its products, by their groups.
    EqualRows rows;
    AlignedBuffer<T> products;
    int64_t stride = 0;
  };

  // Whole vectors are read of each segment.
  int64_t SegmentStride(const MatrixUse& use) const;
  // Returns whether rows of a piece are worth comparing, of so many.
  bool MayPay(const ProductStep& step, const Piece& piece,
              int64_t num_rows) const;
  // Sets the products of `*known` with the matrix's rows from `first_row` on.
  void Multiply(const Phase& phase, int64_t first_row, Known* known);

  const BlockProgram& program_;
  const Kernels<T>& kernels_;
  const BlockInvariants<T>& invariants_;
  const PlacedRows<T>& placed_;
  Team& team_;
  std::vector<Known> known_;
  int64_t num_flops_spared_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_KNOWN_PRODUCTS_H_
