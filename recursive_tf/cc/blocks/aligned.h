#ifndef RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_
#define RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "recursive_tf/cc/base/faults.h"
#include "recursive_tf/cc/base/memory_pool.h"

namespace recursive_tf {

// Memory that begins where a vector may, not set. It grows and never shrinks.
template <typename T>
class AlignedBuffer {
 public:
  // Returns place for so many numbers; what was there is lost if it grows.
  T* Get(int64_t size) {
    if (size <= size_) return memory_.get();
    auto* const made = static_cast<T*>(
        MemoryPool::Global().Take(static_cast<size_t>(size) * sizeof(T)));
    if (Faults::Global().Strikes(Faults::Kind::kAllocation)) {
      MemoryPool::Global().Give(made);
      throw std::bad_alloc();
    }
    if (made == nullptr) throw std::bad_alloc();
    memory_.reset(made);
    size_ = size;
    return made;
  }

  const T* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(T* memory) const { MemoryPool::Global().Give(memory); }
  };

  std::unique_ptr<T, Free> memory_;
  int64_t size_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_
