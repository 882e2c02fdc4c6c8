#ifndef RECURSIVE_TF_CC_BLOCKS_GROUP_TOTALS_H_
#define RECURSIVE_TF_CC_BLOCKS_GROUP_TOTALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// For each group of rows the sum of its rows, which are joined of parts.
template <typename T>
class GroupTotals {
 public:
  // What the parts name must outlive this.
  GroupTotals(const std::vector<RowsPart<T>>& parts, const EqualRows& groups,
              const Kernels<T>& kernels, Team* team);

  // By group: where a part of its sum is. If a group has one row, that is it.
  const PooledVector<T*>& rows(size_t part) const { return rows_[part]; }

 private:
  bool HasSeveral(int64_t group) const {
    return begins_[group + 1] - begins_[group] > 1;
  }
  // Sets where the rows of groups and their sums are.
  void FindMembers(const EqualRows& groups);
  void FindRows(const std::vector<RowsPart<T>>& parts);
  // Adds up the rows of groups [begin, end).
  void AddUp(const std::vector<RowsPart<T>>& parts, int64_t begin, int64_t end,
             const Kernels<T>& kernels) const;

  // By group: where its rows begin, in `order_`; and the end of the last one's.
  PooledVector<int32_t> begins_;
  PooledVector<int32_t> order_;
  // By part: the rows, those of a group one behind the other; and the sums.
  std::vector<PooledVector<T*>> members_;
  std::vector<PooledVector<T*>> rows_;
  // Of groups that have several rows: what these add up to.
  AlignedBuffer<T> totals_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_GROUP_TOTALS_H_
