#ifndef RECURSIVE_TF_CC_BATCHING_KEY_TABLE_H_
#define RECURSIVE_TF_CC_BATCHING_KEY_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/pooled_vector.h"

namespace recursive_tf {

// Finds a number by a key, which `memo=` computed. Most programs number what
// they share from 0 on, so a key is the place in an array, as long as the array
// is short, or not much longer than there are keys. Other keys are hashed.
//
// Invariant: every key that is a place of the array stands there.
//
// Thread safety: none.
//
// Cost: constant for each call, on average; at most 32 bytes for a key, or
// those of the short array.
class KeyTable {
 public:
  static constexpr int32_t kNone = -1;

  // Says that about so many keys will be added.
  void Expect(size_t count) { expected_ = count; }

  // Returns the number of a key, or kNone.
  int32_t Find(int64_t key) const {
    const auto place = static_cast<uint64_t>(key);
    if (place < dense_.size()) return dense_[place];
    return num_hashed_ == 0 ? kNone : hashed_[PlaceOf(key)].number;
  }

  // REQUIRES: the key has none yet; `number` is not kNone.
  void Add(int64_t key, int32_t number) {
    ++num_keys_;
    const auto place = static_cast<uint64_t>(key);
    if (place < dense_.size() || GrowFor(place)) {
      dense_[place] = number;
      return;
    }
    if (2 * (num_hashed_ + 1) > hashed_.size()) {
      Rehash(std::max(kFewest, 2 * hashed_.size()));
    }
    hashed_[PlaceOf(key)] = {key, number};
    ++num_hashed_;
  }

 private:
  static constexpr size_t kFewest = 64;
  static constexpr size_t kMostPlacesOfAKey = 4;
  // A recursion from the roots of large trees begins with a few large numbers.
  // So many places take no longer to clear than hashing a few hundred keys.
  static constexpr size_t kShort = 1 << 15;

  struct Hashed {
    int64_t key = 0;
    int32_t number = kNone;
  };

  // Makes the array long enough for a place, unless that is too far.
  bool GrowFor(uint64_t place) {
    const size_t count = std::max(num_keys_ + kFewest, expected_);
    if (place >= std::max(kMostPlacesOfAKey * count, kShort)) return false;
    const size_t least = std::max(2 * dense_.size(), count);
    dense_.resize(std::max<size_t>(least, place + 1), kNone);
    if (num_hashed_ > 0) Rehash(hashed_.size());
    return true;
  }

  // Returns where a key is hashed to, or the free place where it is to stand.
  size_t PlaceOf(int64_t key) const {
    const size_t mask = hashed_.size() - 1;
    size_t place = HashCombine(0, static_cast<uint64_t>(key)) & mask;
    while (hashed_[place].number != kNone && hashed_[place].key != key) {
      place = (place + 1) & mask;
    }
    return place;
  }

  // Puts hashed keys into a table of `size`, or into the array if it is long
  // enough for them now.
  void Rehash(size_t size) {
    PooledVector<Hashed> old(size);
    std::swap(hashed_, old);
    num_hashed_ = 0;
    for (const Hashed& each : old) {
      if (each.number == kNone) continue;
      const auto place = static_cast<uint64_t>(each.key);
      if (place < dense_.size()) {
        dense_[place] = each.number;
      } else {
        hashed_[PlaceOf(each.key)] = each;
        ++num_hashed_;
      }
    }
  }

  // By key.
  PooledVector<int32_t> dense_;
  // Each at the place that its hash names, or one behind it; at least half are
  // free. Its size is a power of two.
  PooledVector<Hashed> hashed_;
  size_t num_hashed_ = 0;
  size_t num_keys_ = 0;
  size_t expected_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_KEY_TABLE_H_
