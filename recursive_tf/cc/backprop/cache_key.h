#ifndef RECURSIVE_TF_CC_BACKPROP_CACHE_KEY_H_
#define RECURSIVE_TF_CC_BACKPROP_CACHE_KEY_H_

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {

// Names what one invocation keeps for its gradient: the invocation's path (the
// parent's name, the call site, an ordinal) and the region of the procedure,
// its body or one branch of a conditional, that the values come from.
//
// The parent's id stands for the parent's whole path, exactly: ids are never
// reused within a root call (Jeong et al. 2018, section 5: a key is a position
// combined with the key of the parent).
struct CacheKey {
  uint64_t parent;
  int32_t site;
  int32_t ordinal;
  int32_t region;

  static CacheKey Of(const Activation& activation, int32_t region) {
    const Activation* parent = activation.parent;
    return {parent == nullptr ? 0 : parent->id, activation.site,
            activation.ordinal, region};
  }

  friend bool operator==(const CacheKey& a, const CacheKey& b) {
    return std::tie(a.parent, a.site, a.ordinal, a.region) ==
           std::tie(b.parent, b.site, b.ordinal, b.region);
  }
};

struct CacheKeyHash {
  size_t operator()(const CacheKey& key) const {
    uint64_t hash = HashCombine(0, key.parent);
    hash = HashCombine(hash, static_cast<uint32_t>(key.site));
    hash = HashCombine(hash, static_cast<uint32_t>(key.ordinal));
    return HashCombine(hash, static_cast<uint32_t>(key.region));
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BACKPROP_CACHE_KEY_H_
