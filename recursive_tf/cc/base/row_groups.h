#ifndef RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_
#define RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

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
  RowGroups(const Index* rows, int32_t num_places) : next_(num_places, -1) {
    size_t num_slots = 16;
    while (num_slots < 2 * static_cast<size_t>(num_places)) num_slots *= 2;
    // Of one row each, at or behind the one that its hash names: its last place
    // so far.
    std::vector<int32_t> slots(num_slots, -1);
    const size_t mask = num_slots - 1;
    for (int32_t place = 0; place < num_places; ++place) {
      const auto row = static_cast<uint64_t>(rows[place]);
      auto slot = static_cast<size_t>(row * kMultiplier >> kShift) & mask;
      while (slots[slot] >= 0 && rows[slots[slot]] != rows[place]) {
        slot = (slot + 1) & mask;
      }
      if (slots[slot] < 0) {
        heads_.push_back(place);
      } else {
        next_[slots[slot]] = place;
      }
      slots[slot] = place;
    }
  }

  // The first place of each row, in the order of places.
  const std::vector<int32_t>& heads() const { return heads_; }
  // The next place of the row that is at a place; -1 behind the last one.
  int32_t next(int32_t place) const { return next_[place]; }

 private:
  // Of Fibonacci hashing: Knuth, The Art of Computer Programming, volume
  // 3, 6.4.
  static constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  static constexpr uint32_t kShift = 32;

  std::vector<int32_t> next_;
  std::vector<int32_t> heads_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_ROW_GROUPS_H_
