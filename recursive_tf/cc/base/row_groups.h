#ifndef RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_
#define RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_

#include <cstdint>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/pooled_vector.h"

namespace recursive_tf {

// Which of many rows are the same row of a table: lists of the places where
// each row is found, the first place first.
//
//   for (const int32_t head : groups.heads()) {
//     for (int32_t place = head; place >= 0; place = groups.next(place)) ...
//   }
class RowGroups {
 public:
  // Takes the row at each of `num_places` places, in any order.
  template <typename Index>
  RowGroups(const Index* rows, int32_t num_places)
      : same_(
            num_places,
            [rows](int32_t place) {
              return HashCombine(0, static_cast<uint64_t>(rows[place]));
            },
            [rows](int32_t a, int32_t b) { return rows[a] == rows[b]; }),
        next_(num_places, -1) {
    PooledVector<int32_t> last = same_.firsts();
    for (int32_t place = 0; place < num_places; ++place) {
      int32_t& before = last[same_.group_of()[place]];
      if (before != place) next_[before] = place;
      before = place;
    }
  }

  // The first place of each row, in the order of places.
  const PooledVector<int32_t>& heads() const { return same_.firsts(); }
  // The next place of the row that is at a place; -1 behind the last one.
  int32_t next(int32_t place) const { return next_[place]; }

 private:
  EqualRows same_;
  PooledVector<int32_t> next_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_
