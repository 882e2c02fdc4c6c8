#include "recursive_tf/cc/blocks/grouped_sum.h"

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/group_totals.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

template <typename T>
GroupedSum<T>::GroupedSum(const OuterSum<T>& all, const EqualRows& groups,
                          const Kernels<T>& kernels, Team* team)
    : sum_(all), right_(all.right, groups, kernels, team) {
  for (const int32_t row : groups.firsts()) {
    left_.push_back(all.left.front().rows.row(row));
  }
  sum_.num_rows = groups.num_groups();
  sum_.left.front().rows = {nullptr, 0, left_.data()};
  for (size_t i = 0; i < sum_.right.size(); ++i) {
    sum_.right[i].rows = {nullptr, 0, right_.rows(i).data()};
  }
}

template class GroupedSum<float>;
template class GroupedSum<double>;

}  // namespace recursive_tf
