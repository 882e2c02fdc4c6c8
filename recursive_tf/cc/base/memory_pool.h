#ifndef RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_
#define RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <new>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Memory that is given back and soon taken again, in about the same sizes:
// launches take theirs step after step. The system's allocator would look for
// a place each time, and takes as long for that as a launch of few rows.
//
// Memory that is given back is kept, by class of size, up to so many bytes in
// all. The last that was given back is taken first: it may still be in a cache.
//
// Thread safety: all functions may be called from any thread.
//
// Cost: a lock, that others hold only for as long as this takes.
class MemoryPool {
 public:
  // Where all memory begins that is taken: a vector of any instruction set.
  static constexpr size_t kAlignment = 64;

  explicit MemoryPool(size_t most_kept) : most_kept_(most_kept) {}
  ~MemoryPool() {
    for (Class& each : classes_) {
      while (Header* const header = Pop(&each)) Free(header);
    }
  }
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // The one of this process, which is never destroyed: tensors may outlive all.
  static MemoryPool& Global() {
    static MemoryPool* const pool = new MemoryPool(kMostKeptByGlobal);
    return *pool;
  }

  // Returns memory for so many bytes, not set; null if there is none.
  void* Take(size_t num_bytes) {
    const size_t index = ClassOf(num_bytes);
    Header* header = index < kNumClasses ? Pop(&classes_[index]) : nullptr;
    if (header == nullptr) {
      header = New(index < kNumClasses ? SizeOf(index) : num_bytes);
      if (header == nullptr) return nullptr;
      header->index = index;
    }
    return header + 1;
  }

  // Takes back what Take returned.
  void Give(void* memory) {
    if (memory == nullptr) return;
    Header* const header = static_cast<Header*>(memory) - 1;
    if (header->index >= kNumClasses) return Free(header);
    const size_t size = SizeOf(header->index);
    // Others may add theirs meanwhile: then it is some more that is kept.
    if (num_kept_.load(std::memory_order_relaxed) + size > most_kept_) {
      return Free(header);
    }
    num_kept_.fetch_add(size, std::memory_order_relaxed);
    Class& its = classes_[header->index];
    const MutexLock lock(&its.mu);
    header->next = its.first;
    its.first = header;
  }

  // How many bytes are kept that nobody has taken.
  size_t num_kept() const { return num_kept_.load(std::memory_order_relaxed); }

  // Returns the bytes that are taken for so many: at most an eighth more, or up
  // to a multiple of the alignment.
  static size_t RoundedUp(size_t num_bytes) {
    const size_t index = ClassOf(num_bytes);
    return index < kNumClasses ? SizeOf(index) : num_bytes;
  }

 private:
  // The classes: multiples of the alignment, up to kStepsEach of them; then
  // kStepsEach sizes from each power of two to the next.
  static constexpr size_t kStepsEach = 8;
  static constexpr size_t kDoublings = 15;
  static constexpr size_t kNumClasses = kStepsEach * (kDoublings + 1);
#if defined(__SANITIZE_ADDRESS__)
  // Who reads what was given back shall be seen.
  static constexpr size_t kMostKeptByGlobal = 0;
#else
  static constexpr size_t kMostKeptByGlobal = size_t{64} << 20;
#endif

  // Stands before what is taken.
  struct alignas(kAlignment) Header {
    size_t index = 0;
    // While it is kept.
    Header* next = nullptr;
  };

  struct Class {
    Mutex mu;
    Header* first ABSL_GUARDED_BY(mu) = nullptr;
  };

  static size_t ClassOf(size_t num_bytes) {
    const size_t units = num_bytes / kAlignment + (num_bytes % kAlignment != 0);
    if (units <= kStepsEach) return units == 0 ? 0 : units - 1;
    // The largest power of two below, in units of kStepsEach.
    size_t doublings = 0;
    while ((units - 1) >> doublings >= 2 * kStepsEach) ++doublings;
    const size_t step = (units - 1) >> doublings;
    return kStepsEach * (doublings + 1) + (step - kStepsEach);
  }

  static size_t SizeOf(size_t index) {
    if (index < kStepsEach) return (index + 1) * kAlignment;
    const size_t doublings = index / kStepsEach - 1;
    const size_t step = kStepsEach + index % kStepsEach;
    return ((step + 1) << doublings) * kAlignment;
  }

  static Header* New(size_t size) {
    if (size > std::numeric_limits<size_t>::max() / 4) return nullptr;
    void* const made = ::operator new(
        sizeof(Header) + size, std::align_val_t{kAlignment}, std::nothrow);
    return made == nullptr ? nullptr : new (made) Header;
  }

  static void Free(Header* header) {
    ::operator delete(header, std::align_val_t{kAlignment});
  }

  // Returns null if there is none.
  Header* Pop(Class* its) {
    const MutexLock lock(&its->mu);
    Header* const header = its->first;
    if (header == nullptr) return nullptr;
    its->first = header->next;
    num_kept_.fetch_sub(SizeOf(header->index), std::memory_order_relaxed);
    return header;
  }

  const size_t most_kept_;
  std::atomic<size_t> num_kept_{0};
  std::array<Class, kNumClasses> classes_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_
