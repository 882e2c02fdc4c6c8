#ifndef RECURSIVE_TF_CC_TF_KEPT_BYTES_H_
#define RECURSIVE_TF_CC_TF_KEPT_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/sharded_map.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Counts what regions of one root call keep for their gradients, by estimate.
//
// Large buffers count once, as a state does that calls hand on, and so do lists
// of tensors, e.g. of what the turns of a loop keep.
//
// Thread safety: Add may be called from any thread.
//
// Cost: a lock for each large tensor and each list; O(1) for other tensors, and
// for each item of a list that is new.
class KeptBytes {
 public:
  // Returns how many bytes more are held with `values`, which must live on.
  int64_t Add(const std::vector<tensorflow::Tensor>& values);

 private:
  struct Hash {
    size_t operator()(const void* pointer) const {
      return HashCombine(0, reinterpret_cast<uintptr_t>(pointer));
    }
  };

  int64_t BytesOf(const tensorflow::Tensor& value, bool is_shared);
  int64_t BytesOfItems(const tensorflow::Tensor& lists);

  // The large buffers and the lists that were counted.
  ShardedMap<const void*, bool, Hash> counted_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_KEPT_BYTES_H_
