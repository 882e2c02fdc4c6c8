#include "recursive_tf/cc/blocks/grouped_sum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/reduce_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// Groups that a thread adds up at a time.
constexpr int64_t kTaskGroups = 64;

}  // namespace

template <typename T>
GroupedSum<T>::GroupedSum(const OuterSum<T>& all, const EqualRows& groups,
                          const Kernels<T>& kernels, Team* team)
    : sum_(all), begins_(groups.num_groups() + 1, 0), rows_(all.num_rows) {
  for (const int32_t group : groups.group_of()) ++begins_[group + 1];
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  PooledVector<int32_t> next(begins_.begin(), begins_.end() - 1);
  for (int32_t row = 0; row < all.num_rows; ++row) {
    rows_[next[groups.group_of()[row]]++] = row;
  }
  for (const int32_t row : groups.firsts()) {
    left_.push_back(all.left.front().rows.row(row));
  }
  sum_.num_rows = groups.num_groups();
  sum_.left.front().rows = {nullptr, 0, left_.data()};
  AddUp(all.right, kernels, team);
  for (size_t i = 0; i < right_.size(); ++i) {
    sum_.right[i].rows = {nullptr, 0, right_[i].data()};
  }
}

template <typename T>
void GroupedSum<T>::AddUp(const std::vector<SumPart<T>>& right,
                          const Kernels<T>& kernels, Team* team) {
  const int64_t num_groups = sum_.num_rows;
  int64_t num_several = 0;
  for (int64_t i = 0; i < num_groups; ++i) {
    num_several += begins_[i + 1] - begins_[i] > 1 ? 1 : 0;
  }
  const int64_t width = WidthOf(right);
  T* total = totals_.Get(num_several * width);
  // By part: the rows, those of a group one behind the other.
  std::vector<PooledVector<T*>> members(right.size());
  for (size_t part = 0; part < right.size(); ++part) {
    members[part].reserve(rows_.size());
    for (const int32_t row : rows_) {
      members[part].push_back(right[part].rows.row(row));
    }
  }
  right_.resize(right.size());
  for (int64_t i = 0; i < num_groups; ++i) {
    const bool has_several = begins_[i + 1] - begins_[i] > 1;
    int64_t offset = 0;
    for (size_t part = 0; part < right.size(); ++part) {
      right_[part].push_back(has_several ? total + offset
                                         : members[part][begins_[i]]);
      offset += right[part].width;
    }
    if (has_several) total += width;
  }
  team->Run(DivideUp(num_groups, kTaskGroups), [&](int64_t task) {
    const int64_t end = std::min((task + 1) * kTaskGroups, num_groups);
    for (int64_t i = task * kTaskGroups; i < end; ++i) {
      if (begins_[i + 1] - begins_[i] == 1) continue;
      for (size_t part = 0; part < right.size(); ++part) {
        T* const sums = right_[part][i];
        std::fill_n(sums, right[part].width, T(0));
        ReduceRows<T>(kernels, Opcode::kAdd, {nullptr, 0, members[part].data()},
                      begins_[i], begins_[i + 1], right[part].width, sums);
      }
    }
  });
}

template class GroupedSum<float>;
template class GroupedSum<double>;

}  // namespace recursive_tf
