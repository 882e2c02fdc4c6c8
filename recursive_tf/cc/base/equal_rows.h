#ifndef RECURSIVE_TF_CC_BASE_EQUAL_ROWS_H_
#define RECURSIVE_TF_CC_BASE_EQUAL_ROWS_H_

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/base/pooled_vector.h"

namespace recursive_tf {

// Which of many rows are equal: a group for each kind of row, numbered in the
// order of their first rows.
class EqualRows {
 public:
  EqualRows() = default;
  // Takes a hash of each row, of which all bits count, and whether two rows are
  // equal: `uint64_t hash(int32_t row)`, `bool equal(int32_t a, int32_t b)`.
  template <typename Hash, typename Equal>
  EqualRows(int32_t num_rows, const Hash& hash, const Equal& equal)
      : group_of_(num_rows) {
    size_t num_slots = 16;
    while (num_slots < 2 * static_cast<size_t>(num_rows)) num_slots *= 2;
    // The group whose hash names this place, or one just before it.
    PooledVector<int32_t> slots(num_slots, -1);
    const size_t mask = num_slots - 1;
    for (int32_t row = 0; row < num_rows; ++row) {
      auto slot = static_cast<size_t>(hash(row)) & mask;
      while (slots[slot] >= 0 && !equal(firsts_[slots[slot]], row)) {
        slot = (slot + 1) & mask;
      }
      if (slots[slot] < 0) {
        slots[slot] = num_groups();
        firsts_.push_back(row);
      }
      group_of_[row] = slots[slot];
    }
  }

  int32_t num_groups() const { return static_cast<int32_t>(firsts_.size()); }
  // By row: its group.
  const PooledVector<int32_t>& group_of() const { return group_of_; }
  // By group: its first row.
  const PooledVector<int32_t>& firsts() const { return firsts_; }

 private:
  PooledVector<int32_t> group_of_;
  PooledVector<int32_t> firsts_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_EQUAL_ROWS_H_
