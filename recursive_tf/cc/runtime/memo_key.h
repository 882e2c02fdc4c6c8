#ifndef RECURSIVE_TF_CC_RUNTIME_MEMO_KEY_H_
#define RECURSIVE_TF_CC_RUNTIME_MEMO_KEY_H_

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/base/hash.h"

namespace recursive_tf {

// Names an invocation that others share, within one root call: what runs, and
// the number that `memo=` computed.
struct MemoKey {
  friend bool operator==(const MemoKey& a, const MemoKey& b) {
    return a.procedure == b.procedure && a.number == b.number;
  }

  int32_t procedure = 0;
  int64_t number = 0;
};

struct MemoKeyHash {
  size_t operator()(const MemoKey& key) const {
    const uint64_t hash = HashCombine(0, static_cast<uint32_t>(key.procedure));
    return HashCombine(hash, static_cast<uint64_t>(key.number));
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_MEMO_KEY_H_
