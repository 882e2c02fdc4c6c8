#include "recursive_tf/cc/batching/launch_bound.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

void LaunchBound::AddValues(int32_t count, int32_t num_rows) {
  for (int32_t i = 0; i < count; ++i) {
    chains_.emplace_back(static_cast<size_t>(num_rows) * num_blocks_, 0);
  }
}

void LaunchBound::Add(const Launch& launch,
                      const std::vector<ValueRow>& decided_by,
                      int32_t num_values) {
  Chains chains(static_cast<size_t>(launch.num_rows()) * num_blocks_, 0);
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    const std::vector<int32_t> to_rows = RowsOfInput(launch, i);
    for (const Rows& rows : launch.inputs[i]) Follow(rows, to_rows, &chains);
  }
  for (int32_t i = 0; i < launch.num_activations(); ++i) {
    const ValueRow& decision = decided_by[i];
    if (decision.value != ValueRow::kNoValue) {
      Follow(decision.value, At(decision.row), launch.RowOf(i), &chains);
    }
  }
  for (int32_t row = 0; row < launch.num_rows(); ++row) {
    const int32_t length = ++chains[At(row) + launch.block];
    longest_[launch.block] = std::max(longest_[launch.block], length);
  }
  chains_.resize(chains_.size() + num_values, chains);
}

void LaunchBound::Spread(int32_t value, const std::vector<int32_t>& counts) {
  const Chains of_rows = std::move(chains_[value]);
  Chains& of_items = chains_[value];
  of_items.clear();
  for (size_t row = 0; row < counts.size(); ++row) {
    const auto first =
        of_rows.begin() + static_cast<int64_t>(At(static_cast<int32_t>(row)));
    for (int32_t item = 0; item < counts[row]; ++item) {
      of_items.insert(of_items.end(), first, first + num_blocks_);
    }
  }
}

int64_t LaunchBound::Get() const {
  return std::accumulate(longest_.begin(), longest_.end(), int64_t{0});
}

std::vector<int32_t> LaunchBound::RowsOfInput(const Launch& launch,
                                              size_t input) {
  if (launch.is_shared()) {
    const PooledVector<int32_t>& groups = launch.shared.group_of();
    return {groups.begin(), groups.end()};
  }
  std::vector<int32_t> to_rows;
  for (const ListInput& list : launch.list_inputs) {
    if (list.input != static_cast<int32_t>(input)) continue;
    for (size_t row = 0; row < list.counts.size(); ++row) {
      to_rows.insert(to_rows.end(), list.counts[row],
                     static_cast<int32_t>(row));
    }
  }
  return to_rows;
}

void LaunchBound::Follow(const Rows& rows, const std::vector<int32_t>& to_rows,
                         Chains* chains) const {
  int32_t next = 0;
  for (const RowRun& run : rows.runs()) {
    for (int32_t i = 0; i < run.num_rows; ++i, ++next) {
      const int32_t to_row = to_rows.empty() ? next : to_rows[next];
      Follow(run.value, At(run.first_row + i * run.stride), to_row, chains);
    }
  }
}

void LaunchBound::Follow(int32_t value, size_t from, int32_t to_row,
                         Chains* chains) const {
  if (chains_[value].empty()) return;
  for (int32_t block = 0; block < num_blocks_; ++block) {
    int32_t& length = (*chains)[At(to_row) + block];
    length = std::max(length, chains_[value][from + block]);
  }
}

}  // namespace recursive_tf
