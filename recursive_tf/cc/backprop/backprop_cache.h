#ifndef RECURSIVE_TF_CC_BACKPROP_BACKPROP_CACHE_H_
#define RECURSIVE_TF_CC_BACKPROP_BACKPROP_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/backprop/cache_key.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/base/sharded_map.h"

namespace recursive_tf {

// Holds the forward values of one root call that its gradient will read: the
// concurrent hash table of Jeong et al. 2018, section 5 and Figure 6. It
// belongs to that root call, so steps in flight do not meet, and dies with it.
//
// Thread safety: every method may be called from any thread.
//
// Invariants:
//   (1) A key is put at most once.
//   (2) Reading does not consume: a persistent tape reads again.
//   (3) No value refers to the cache's owner, so its death is never recursive.
//
// Cost: O(1), one lock and one node of the table a region of an invocation.
template <typename Value>
class BackpropCache {
 public:
  BackpropCache() = default;
  ~BackpropCache() { census_.Add(-static_cast<int64_t>(size())); }
  BackpropCache(const BackpropCache&) = delete;
  BackpropCache& operator=(const BackpropCache&) = delete;

  // Stores `values` under `key`. Returns false, leaving the cache unchanged, if
  // `key` is already present: the caller broke invariant (1).
  [[nodiscard]] bool Put(const CacheKey& key, std::vector<Value> values) {
    if (!values_.Insert(key, std::move(values))) return false;
    census_.Add(1);
    return true;
  }

  // Returns the values under `key`, valid as long as the cache, or null if the
  // forward pass never put them.
  const std::vector<Value>* Get(const CacheKey& key) const {
    return values_.Find(key);
  }

  // Returns the number of keys. Exact only while no thread puts.
  size_t size() const { return values_.size(); }

 private:
  const Census::Counter census_{Census::Kind::kCacheEntries};
  ShardedMap<CacheKey, std::vector<Value>, CacheKeyHash> values_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BACKPROP_BACKPROP_CACHE_H_
