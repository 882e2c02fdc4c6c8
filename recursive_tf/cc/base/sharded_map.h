#ifndef RECURSIVE_TF_CC_BASE_SHARDED_MAP_H_
#define RECURSIVE_TF_CC_BASE_SHARDED_MAP_H_

#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// A concurrent hash table that only grows: values stay where they are until the
// map dies, so a pointer to one may be read without the lock.
//
// Thread safety: every method may be called from any thread; an insertion
// happens before every Find that sees it. Changing a value through Apply is
// safe; changing it through the pointer that Find returns is not offered.
//
// Cost: O(1) and one lock a call.
template <typename Key, typename Value, typename Hash>
class ShardedMap {
 public:
  // Stores `value` under `key`. Returns false, leaving the map unchanged, if
  // `key` is already present.
  [[nodiscard]] bool Insert(const Key& key, Value value) {
    Shard& shard = ShardOf(key);
    MutexLock lock(&shard.mu);
    return shard.values.try_emplace(key, std::move(value)).second;
  }

  // Returns the value under `key`, or null. Valid as long as the map.
  const Value* Find(const Key& key) const {
    const Shard& shard = ShardOf(key);
    MutexLock lock(&shard.mu);
    auto found = shard.values.find(key);
    return found == shard.values.end() ? nullptr : &found->second;
  }

  // Returns what `update` returns for the value under `key`, which is
  // default-constructed if it is absent. The lock is held meanwhile.
  template <typename Update>
  auto Apply(const Key& key, Update update) {
    Shard& shard = ShardOf(key);
    MutexLock lock(&shard.mu);
    return update(shard.values[key]);
  }

  // Returns the number of keys. Exact only while no thread inserts.
  size_t size() const {
    size_t total = 0;
    for (const Shard& shard : shards_) {
      MutexLock lock(&shard.mu);
      total += shard.values.size();
    }
    return total;
  }

 private:
  // Well above the usual thread count, so that threads rarely meet on a shard.
  // IDEA: take it from a measurement; 16 is a guess.
  static constexpr size_t kNumShards = 16;

  struct Shard {
    mutable Mutex mu;
    std::unordered_map<Key, Value, Hash> values ABSL_GUARDED_BY(mu);
  };

  // The top bits choose the shard, because the bottom ones choose the bucket.
  static size_t IndexOf(const Key& key) {
    return (Hash()(key) >> 40U) % kNumShards;
  }
  Shard& ShardOf(const Key& key) { return shards_[IndexOf(key)]; }
  const Shard& ShardOf(const Key& key) const { return shards_[IndexOf(key)]; }

  std::array<Shard, kNumShards> shards_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_SHARDED_MAP_H_
