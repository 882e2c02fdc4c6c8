#ifndef RECURSIVE_TF_CC_BLOCKS_SAME_ROWS_H_
#define RECURSIVE_TF_CC_BLOCKS_SAME_ROWS_H_

#include <cstdint>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// Numbers that a row is multiplied with: with fewer, a product takes less time
// than to find the rows that are one.
inline constexpr int64_t kNumbersWorthComparing = int64_t{1} << 13;

// Rows of which matrices are always packed. With fewer it may be a guess that
// they are, which must not change what is computed.
inline constexpr int64_t kLeastRowsToCompare = 96;

// Returns whether it pays to multiply so many rows once, instead of all. What
// is known of a row, or adds up, takes some time to read, too.
inline bool AreFewEnough(int64_t num_rows, int64_t num_once) {
  return 4 * num_once <= 3 * num_rows;
}

// Returns which of some rows are one, at one address.
template <typename T>
EqualRows FindSameRows(const RowSet<T>& rows, int64_t num_rows) {
  const auto address = [&rows](int32_t row) {
    return reinterpret_cast<uintptr_t>(rows.row(row));
  };
  return {static_cast<int32_t>(num_rows),
          [&](int32_t row) { return HashCombine(0, address(row)); },
          [&](int32_t a, int32_t b) { return address(a) == address(b); }};
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_SAME_ROWS_H_
