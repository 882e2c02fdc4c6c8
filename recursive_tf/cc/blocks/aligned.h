#ifndef RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_
#define RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "recursive_tf/cc/base/faults.h"

namespace recursive_tf {

// Memory that begins where a vector may, not set. It grows and never shrinks.
template <typename T>
class AlignedBuffer {
 public:
  // Returns place for so many numbers; what was there is lost if it grows.
  T* Get(int64_t size) {
    if (size <= size_) return memory_.get();
    const int64_t num_bytes = size * static_cast<int64_t>(sizeof(T));
    const int64_t rounded = (num_bytes + kAlignment - 1) / kAlignment;
    auto* const made =
        static_cast<T*>(std::aligned_alloc(kAlignment, rounded * kAlignment));
    if (Faults::Global().Strikes(Faults::Kind::kAllocation)) {
      std::free(made);
      throw std::bad_alloc();
    }
    if (made == nullptr) throw std::bad_alloc();
    memory_.reset(made);
    size_ = size;
    return made;
  }

  const T* data() const { return memory_.get(); }

 private:
  static constexpr int64_t kAlignment = 64;

  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };

  std::unique_ptr<T, Free> memory_;
  int64_t size_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_ALIGNED_H_
