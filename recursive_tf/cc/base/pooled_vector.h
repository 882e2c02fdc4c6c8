#ifndef RECURSIVE_TF_CC_BASE_POOLED_VECTOR_H_
#define RECURSIVE_TF_CC_BASE_POOLED_VECTOR_H_

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

#include "recursive_tf/cc/base/memory_pool.h"

namespace recursive_tf {

// Takes the memory of a container from the pool of this process.
template <typename T>
struct FromPool {
  using value_type = T;

  FromPool() = default;
  template <typename U>
  explicit FromPool(const FromPool<U>& /*other*/) {}

  friend bool operator==(const FromPool& /*a*/, const FromPool& /*b*/) {
    return true;
  }
  friend bool operator!=(const FromPool& /*a*/, const FromPool& /*b*/) {
    return false;
  }

  T* allocate(size_t count) {
    void* const memory = count <= std::numeric_limits<size_t>::max() / sizeof(T)
                             ? MemoryPool::Global().Take(count * sizeof(T))
                             : nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t /*count*/) {
    MemoryPool::Global().Give(memory);
  }
};

// A vector that each step fills anew with very many elements. The system takes
// large memory back when it is freed; then each page is a fault of the next
// step, which takes longer than to fill it.
//
// Thread safety and cost: as of a std::vector; memory is taken and given back
// as of a MemoryPool.
template <typename T>
using PooledVector = std::vector<T, FromPool<T>>;

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_POOLED_VECTOR_H_
