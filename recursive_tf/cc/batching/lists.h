#ifndef RECURSIVE_TF_CC_BATCHING_LISTS_H_
#define RECURSIVE_TF_CC_BATCHING_LISTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// The lists that slots hold: rows that may stand anywhere, and be any number.
// What a slot holds then is no row but the name of a list, whose value is below
// kNoValue. A list that nobody holds is forgotten, and the next takes its
// place, with its memory.
class Lists {
 public:
  static bool IsList(ValueRow row) { return row.value < ValueRow::kNoValue; }

  // Returns a new list of `count` items that are not set. Nobody holds it yet.
  ValueRow Add(int32_t count) {
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(lists_.size()));
      lists_.emplace_back();
    }
    const int32_t index = free_.back();
    free_.pop_back();
    lists_[index].items.assign(count, ValueRow());
    return {kFirst - index, 0};
  }

  // --- All of these take the name of a list.

  void Set(ValueRow list, int32_t item, ValueRow row) {
    At(list).items[item] = row;
  }

  const std::vector<ValueRow>& Items(ValueRow list) const {
    return lists_[kFirst - list.value].items;
  }

  int32_t Count(ValueRow list) const {
    return static_cast<int32_t>(Items(list).size());
  }

  void Hold(ValueRow list) { ++At(list).num_holders; }

  // Calls `release` for each item if nobody else holds the list.
  template <typename Release>
  void LetGo(ValueRow list, const Release& release) {
    if (--At(list).num_holders > 0) return;
    for (const ValueRow item : Items(list)) release(item);
    free_.push_back(kFirst - list.value);
  }

  size_t num_alive() const { return lists_.size() - free_.size(); }

 private:
  struct List {
    std::vector<ValueRow> items;
    int32_t num_holders = 0;
  };

  static constexpr int32_t kFirst = ValueRow::kNoValue - 1;

  List& At(ValueRow list) { return lists_[kFirst - list.value]; }

  std::vector<List> lists_;
  std::vector<int32_t> free_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LISTS_H_
