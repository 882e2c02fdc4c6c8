#ifndef RECURSIVE_TF_CC_RUNTIME_ORDINALS_H_
#define RECURSIVE_TF_CC_RUNTIME_ORDINALS_H_

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/sharded_map.h"
#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {

// Counts how often one activation has run one call site, which names the runs
// of a site that stands in a loop.
//
// Thread safety: Next may be called from any thread.
class Ordinals {
 public:
  // Returns 0 for the first run of `site` by `parent`, then 1, 2, ...
  int32_t Next(const Activation& parent, int32_t site) {
    return counts_.Apply(Key{parent.id, site},
                         [](int32_t& count) { return count++; });
  }

 private:
  struct Key {
    uint64_t parent;
    int32_t site;

    friend bool operator==(const Key& a, const Key& b) {
      return a.parent == b.parent && a.site == b.site;
    }
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return HashCombine(HashCombine(0, key.parent), key.site);
    }
  };

  ShardedMap<Key, int32_t, Hash> counts_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_ORDINALS_H_
