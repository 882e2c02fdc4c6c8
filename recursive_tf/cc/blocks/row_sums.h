#ifndef RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_
#define RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/grouped_sum.h"
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

  // Returns how many operations of products were spared so far, as
  // product_peak.h counts: because rows came several times.
  int64_t num_flops_spared() const { return num_flops_spared_; }

 private:
  // Return whether rows on the left may be worth grouping: of any piece, and of
  // one of them.
  bool MayGroup(const SumStep& step) const;
  bool MayGroup(const Piece& piece, int64_t num_rows,
                int64_t num_columns) const;
  // Sums the outer products of rows of one piece on the left, with those that
  // are one taken once, if that pays.
  void SumOuterOfPart(const Piece& piece, const OuterSum<T>& sum);
  void SumOuter(const OuterSum<T>& sum);
  void SumOuterPart(const OuterSum<T>& sum, int64_t first_left,
                    int64_t num_left, int64_t num_columns,
                    const ColumnPart& part);
  // Sums the rows on the right, without anything on the left.
  void SumRows(const OuterSum<T>& sum);
  // Copies columns of rows [begin, end) of joined parts: to groups, and to the
  // rows of a panel.
  void GroupLeft(const std::vector<RowsPart<T>>& parts, int64_t first,
                 int64_t count, int64_t begin, int64_t end, T* groups) const;
  void CopyRight(const std::vector<RowsPart<T>>& parts, const Panel& panel,
                 int64_t begin, int64_t end, T* rows) const;

  const Kernels<T>& kernels_;
  const PlacedRows<T>& placed_;
  Team& team_;
  int64_t num_flops_spared_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ROW_SUMS_H_
