#ifndef RECURSIVE_TF_CC_BATCHING_VALUE_READERS_H_
#define RECURSIVE_TF_CC_BATCHING_VALUE_READERS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// Counts for each value in how many slots rows of it stand, and says which
// values died: their memory may go.
class ValueReaders {
 public:
  // Adds values that nobody reads yet, and returns the first.
  int32_t AddValues(int32_t count) {
    const auto first = static_cast<int32_t>(num_readers_.size());
    num_readers_.resize(num_readers_.size() + count, 0);
    return first;
  }

  void Add(ValueRow row) { ++num_readers_[row.value]; }
  void Add(int32_t value, int32_t count) { num_readers_[value] += count; }

  void Remove(ValueRow row) { Remove(row.value, 1); }
  // REQUIRES: `count` is not 0.
  void Remove(int32_t value, int32_t count) {
    if ((num_readers_[value] -= count) == 0) dead_.push_back(value);
  }
  // Removes so many rows, those of one value at once where they come together.
  void Remove(const ValueRow* rows, size_t count) {
    for (size_t begin = 0; begin < count;) {
      const int32_t value = rows[begin].value;
      size_t end = begin + 1;
      while (end < count && rows[end].value == value) ++end;
      Remove(value, static_cast<int32_t>(end - begin));
      begin = end;
    }
  }

  // Says that those of `count` values from `first` on died that nobody reads.
  void FindUnread(int32_t first, int32_t count) {
    for (int32_t value = first; value < first + count; ++value) {
      if (num_readers_[value] == 0) dead_.push_back(value);
    }
  }

  // Returns the values that died since it was called last, each once. They are
  // valid until it is called again.
  const std::vector<int32_t>& TakeDead() {
    std::swap(taken_, dead_);
    dead_.clear();
    return taken_;
  }

  int32_t num_values() const {
    return static_cast<int32_t>(num_readers_.size());
  }

 private:
  std::vector<int32_t> num_readers_;
  std::vector<int32_t> dead_;
  std::vector<int32_t> taken_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_VALUE_READERS_H_
