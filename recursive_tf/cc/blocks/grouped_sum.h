#ifndef RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_
#define RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/group_totals.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// A sum over rows of the outer products of what is on the left and on the
// right, both joined of parts.
template <typename T>
struct OuterSum {
  std::vector<RowsPart<T>> left;
  std::vector<RowsPart<T>> right;
  int64_t num_rows = 0;
  T* out = nullptr;
  bool adds = false;
};

// A sum of outer products with a row for each group of rows that are one on the
// left: those on the right are added up first, as a x + b x = (a + b) x.
template <typename T>
class GroupedSum {
 public:
  // Takes a sum with one part on the left, and which of its rows are one. What
  // the sum names must outlive this.
  GroupedSum(const OuterSum<T>& all, const EqualRows& groups,
             const Kernels<T>& kernels, Team* team);

  // It lives as long as this.
  const OuterSum<T>& sum() const { return sum_; }

 private:
  OuterSum<T> sum_;
  // On the left: where the row of each group is.
  PooledVector<T*> left_;
  GroupTotals<T> right_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_
