#include "recursive_tf/cc/tf/added_rows.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/same_rows.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/returned.h"

namespace recursive_tf {
namespace {

// Returns how many of some rows may be one with others.
int64_t NumShared(const Rows& rows, const BatchedRecord& record) {
  int64_t num_shared = 0;
  for (const RowRun& run : rows.runs()) {
    num_shared += record.are_shared[run.value] ? run.num_rows : 0;
  }
  return num_shared;
}

EqualRows GroupsOf(const Rows& rows) {
  PooledVector<uint64_t> keys;
  keys.reserve(rows.num_rows());
  for (const RowRun& run : rows.runs()) {
    const auto value = static_cast<uint64_t>(run.value) << 32;
    for (int32_t i = 0; i < run.num_rows; ++i) {
      keys.push_back(value |
                     static_cast<uint32_t>(run.first_row + i * run.stride));
    }
  }
  return {rows.num_rows(),
          [&](int32_t row) { return HashCombine(0, keys[row]); },
          [&](int32_t a, int32_t b) { return keys[a] == keys[b]; }};
}

}  // namespace

AddedOutput AddedRowsOf(const JoinedRows& joined, const BatchedRecord& record) {
  AddedOutput found;
  bool are_any = false;
  for (const Rows& rows : joined) {
    const int64_t num_rows = rows.num_rows();
    if (num_rows < kLeastRowsToCompare) return {};
    const Kind& kind = record.values[rows.runs().front().value];
    AddedColumns& columns = found.emplace_back();
    columns.width = kind.shape.num_elements() /
                    std::max<int64_t>(kind.shape.dim_size(0), 1);
    if (!AreFewEnough(num_rows, num_rows - NumShared(rows, record))) continue;
    EqualRows groups = GroupsOf(rows);
    if (!AreFewEnough(num_rows, groups.num_groups())) continue;
    columns.groups = std::move(groups);
    are_any = true;
  }
  if (!are_any) found.clear();
  return found;
}

}  // namespace recursive_tf
