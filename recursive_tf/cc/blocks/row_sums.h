#ifndef RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_
#define RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// What the rows of a run add up to: gradients of weights.
//
// Thread safety: one run at a time for each object.
template <typename T>
class RowSums {
 public:
  // All of them must outlive this.
  RowSums(const Kernels<T>* kernels, const PlacedRows<T>* placed, Team* team)
      : kernels_(*kernels), placed_(*placed), team_(*team) {}

  // Sets or adds to the numbers of the step's output, on all threads.
  void Run(const SumStep& step);

 private:
  void SumOuterPart(const SumStep& step, int64_t first_left, int64_t num_left,
                    int64_t num_columns, const ColumnPart& part);
  void SumRowsPart(const SumStep& step, const ColumnPart& part);
  // Copies columns of rows [begin, end) of joined pieces: to groups, and to the
  // rows of a panel.
  void GroupLeft(const std::vector<Piece>& pieces, int64_t first, int64_t count,
                 int64_t begin, int64_t end, T* groups) const;
  void CopyRight(const std::vector<Piece>& pieces, const Panel& panel,
                 int64_t begin, int64_t end, T* rows) const;

  const Kernels<T>& kernels_;
  const PlacedRows<T>& placed_;
  Team& team_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_
