#ifndef RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_
#define RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Some columns of rows.
template <typename T>
struct SumPart {
  RowSet<T> rows;
  int64_t width = 0;
};

// A sum over rows of the outer products of what is on the left and on the
// right, both joined of parts.
template <typename T>
struct OuterSum {
  std::vector<SumPart<T>> left;
  std::vector<SumPart<T>> right;
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
  // Adds up the rows of groups that have several.
  void AddUp(const std::vector<SumPart<T>>& right, const Kernels<T>& kernels,
             Team* team);

  OuterSum<T> sum_;
  // By group: where its rows begin, in `rows_`; and the end of the last one's.
  PooledVector<int32_t> begins_;
  PooledVector<int32_t> rows_;
  // On the left; and by part on the right: where the row of each group is.
  PooledVector<T*> left_;
  std::vector<PooledVector<T*>> right_;
  // Of groups that have several rows: what these add up to.
  AlignedBuffer<T> totals_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_GROUPED_SUM_H_
