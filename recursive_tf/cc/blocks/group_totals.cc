#include "recursive_tf/cc/blocks/group_totals.h"

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
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/reduce_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// Groups that a thread adds up at a time.
constexpr int64_t kTaskGroups = 64;

}  // namespace

template <typename T>
GroupTotals<T>::GroupTotals(const std::vector<RowsPart<T>>& parts,
                            const EqualRows& groups, const Kernels<T>& kernels,
                            Team* team) {
  FindMembers(groups);
  FindRows(parts);
  const int64_t num_groups = groups.num_groups();
  team->Run(DivideUp(num_groups, kTaskGroups), [&](int64_t task) {
    AddUp(parts, task * kTaskGroups,
          std::min((task + 1) * kTaskGroups, num_groups), kernels);
  });
}

template <typename T>
void GroupTotals<T>::FindMembers(const EqualRows& groups) {
  const PooledVector<int32_t>& group_of = groups.group_of();
  begins_.assign(groups.num_groups() + 1, 0);
  for (const int32_t group : group_of) ++begins_[group + 1];
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  PooledVector<int32_t> next(begins_.begin(), begins_.end() - 1);
  order_.resize(group_of.size());
  for (size_t row = 0; row < group_of.size(); ++row) {
    order_[next[group_of[row]]++] = static_cast<int32_t>(row);
  }
}

template <typename T>
void GroupTotals<T>::FindRows(const std::vector<RowsPart<T>>& parts) {
  const auto num_groups = static_cast<int64_t>(begins_.size()) - 1;
  int64_t num_several = 0;
  for (int64_t i = 0; i < num_groups; ++i) num_several += HasSeveral(i) ? 1 : 0;
  const int64_t width = WidthOf(parts);
  T* first = totals_.Get(num_several * width);
  members_.resize(parts.size());
  rows_.resize(parts.size());
  for (size_t part = 0; part < parts.size(); ++part) {
    PooledVector<T*>& members = members_[part];
    members.reserve(order_.size());
    for (const int32_t row : order_) {
      members.push_back(parts[part].rows.row(row));
    }
    rows_[part].reserve(num_groups);
    T* total = first;
    for (int64_t i = 0; i < num_groups; ++i) {
      rows_[part].push_back(HasSeveral(i) ? total : members[begins_[i]]);
      if (HasSeveral(i)) total += width;
    }
    first += parts[part].width;
  }
}

template <typename T>
void GroupTotals<T>::AddUp(const std::vector<RowsPart<T>>& parts, int64_t begin,
                           int64_t end, const Kernels<T>& kernels) const {
  for (int64_t i = begin; i < end; ++i) {
    if (!HasSeveral(i)) continue;
    for (size_t part = 0; part < parts.size(); ++part) {
      const int64_t width = parts[part].width;
      std::fill_n(rows_[part][i], width, T(0));
      ReduceRows<T>(kernels, Opcode::kAdd, {nullptr, 0, members_[part].data()},
                    begins_[i], begins_[i + 1], width, rows_[part][i]);
    }
  }
}

template class GroupTotals<float>;
template class GroupTotals<double>;

}  // namespace recursive_tf
