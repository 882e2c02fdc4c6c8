#ifndef RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_
#define RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "recursive_tf/cc/base/large_pages.h"
#include "recursive_tf/cc/base/machine_memory.h"
#include "recursive_tf/cc/base/mutex.h"

namespace recursive_tf {

// Memory that is given back and soon taken again, in about the same sizes:
// launches take theirs step after step. The system's allocator would look for
// a place each time, and takes as long for that as a launch of few rows.
//
// Memory that is given back is kept, by class of size. The last that was given
// back is taken first: it may still be in a cache. Rather than let go of some,
// more is lent than was asked for: the levels of a tree are of all sizes, of
// which few are wanted at a time.
//
// Thread safety: all functions may be called from any thread.
//
// Invariants, up to what other threads take and give meanwhile:
// 1. What is kept is at most `most_kept`.
// 2. What is taken and kept is at most a quarter more than what was once taken
//    at a time, or kLeastHeld; and an eighth more than that with what is small.
//    What is kept makes place for what is new. Without the quarter, sizes that
//    take turns would make place for each other.
// 3. What is lent is of at most kMostLent times the size that was asked for,
//    and counts as that.
//
// Cost: a lock, that others hold only for as long as this takes.
class MemoryPool {
 public:
  // Where all memory begins that is taken: a vector of any instruction set.
  static constexpr size_t kAlignment = 64;
  // So much may be held, however little was ever taken at a time.
  static constexpr size_t kLeastHeld = size_t{64} << 20;
  // How many times as large as what was asked for something lent may be.
  static constexpr size_t kMostLent = 4;
  // What is small, as a part of what may be held.
  static constexpr size_t kSmallPart = 32;

  explicit MemoryPool(size_t most_kept) : most_kept_(most_kept) {}
  ~MemoryPool() { Trim(std::numeric_limits<size_t>::max()); }
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // The one of this process, which is never destroyed: tensors may outlive all.
  static MemoryPool& Global() {
    static MemoryPool* const pool = new MemoryPool(MostKeptByGlobal());
    return *pool;
  }

  // Returns memory for so many bytes, not set; null if there is none.
  void* Take(size_t num_bytes) {
    const size_t index = ClassOf(num_bytes);
    if (index >= kNumClasses) return TakeNew(num_bytes, index);
    Header* header = Pop(&classes_[index]);
    if (header == nullptr) header = PopLarger(index);
    void* const memory =
        header == nullptr ? TakeNew(SizeOf(index), index) : header + 1;
    const size_t taken = num_taken();
    if (taken > most_taken_.load(std::memory_order_relaxed)) {
      most_taken_.store(taken, std::memory_order_relaxed);
    }
    return memory;
  }

  // Takes back what Take returned.
  void Give(void* memory) {
    if (memory == nullptr) return;
    Header* const header = static_cast<Header*>(memory) - 1;
    if (header->index >= kNumClasses) return Delete(header);
    const size_t num_lent = std::exchange(header->num_lent, 0);
    if (num_kept() + SizeOf(header->index) > most_kept_) {
      Free(header);
    } else {
      Keep(header);
    }
    if (num_lent > 0) {
      num_lent_.fetch_sub(num_lent, std::memory_order_relaxed);
    }
  }

  // How many bytes are kept that nobody has taken.
  size_t num_kept() const { return num_kept_.load(std::memory_order_relaxed); }
  // How many are taken or kept, but for what is too large for a class.
  size_t num_held() const { return num_held_.load(std::memory_order_relaxed); }
  // How many are taken, without what was lent beyond them.
  size_t num_taken() const {
    const size_t others =
        num_kept() + num_lent_.load(std::memory_order_relaxed);
    const size_t held = num_held();
    return held > others ? held - others : 0;
  }

  // Returns the bytes that are taken for so many if none are lent: at most an
  // eighth more, or up to a multiple of the alignment.
  static size_t RoundedUp(size_t num_bytes) {
    const size_t index = ClassOf(num_bytes);
    return index < kNumClasses ? SizeOf(index) : num_bytes;
  }

 private:
  // The classes: multiples of the alignment, up to kStepsEach of them; then
  // kStepsEach sizes from each power of two to the next.
  static constexpr size_t kStepsEach = 8;
  static constexpr size_t kDoublings = 20;
  static constexpr size_t kNumClasses = kStepsEach * (kDoublings + 1);
  // From how many bytes on memory is in large pages.
#if defined(__SANITIZE_ADDRESS__)
  // Who reads beyond it shall be seen.
  static constexpr size_t kLarge = std::numeric_limits<size_t>::max();
#else
  static constexpr size_t kLarge = 2 * LargePages::kSize;
#endif

  static size_t MostKeptByGlobal() {
#if defined(__SANITIZE_ADDRESS__)
    // Who reads what was given back shall be seen.
    return 0;
#else
    return static_cast<size_t>(MachineMemory()) / 8;
#endif
  }

  // Stands before what is taken.
  struct alignas(kAlignment) Header {
    size_t index = 0;
    // While it is kept.
    Header* next = nullptr;
    // How much more it is than was asked for, if it is lent.
    size_t num_lent = 0;
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

  // Whether memory of a class is in large pages.
  static bool IsLarge(size_t index) {
    return index < kNumClasses && SizeOf(index) >= kLarge;
  }

  // Returns memory that the system gives, for a class or, behind the last, for
  // none.
  void* TakeNew(size_t size, size_t index) {
    if (index < kNumClasses) Trim(TooMuchWith(size));
    Header* header = New(size, index);
    if (header == nullptr) {
      Trim(std::numeric_limits<size_t>::max());
      header = New(size, index);
    }
    if (header == nullptr) return nullptr;
    if (index < kNumClasses) {
      num_held_.fetch_add(size, std::memory_order_relaxed);
    }
    return header + 1;
  }

  // Returns how much too much would be held with so much more. For something
  // small, nothing large has to go.
  size_t TooMuchWith(size_t size) const {
    const size_t most_taken = most_taken_.load(std::memory_order_relaxed);
    size_t most = std::max(most_taken + most_taken / 4, kLeastHeld);
    if (size < most / kSmallPart) most += most / 8;
    const size_t wanted = num_held() + size;
    return wanted > most ? wanted - most : 0;
  }

  // Lends what is kept of a larger class, if something would have to go for
  // what is new. Returns null if there is none that may be lent.
  Header* PopLarger(size_t index) {
    const size_t size = SizeOf(index);
    if (TooMuchWith(size) == 0) return nullptr;
    const size_t last = std::min(ClassOf(kMostLent * size), kNumClasses - 1);
    for (size_t larger = index + 1; larger <= last; ++larger) {
      Header* const header = Pop(&classes_[larger]);
      if (header == nullptr) continue;
      header->num_lent = SizeOf(larger) - size;
      num_lent_.fetch_add(header->num_lent, std::memory_order_relaxed);
      return header;
    }
    return nullptr;
  }

  // Gives the system so much of what is kept, or all, the largest first.
  void Trim(size_t num_bytes) {
    if (num_bytes == 0) return;
    for (size_t index = kNumClasses; index-- > 0 && num_kept() > 0;) {
      while (Header* const header = Pop(&classes_[index])) {
        Free(header);
        if (SizeOf(index) >= num_bytes) return;
        num_bytes -= SizeOf(index);
      }
    }
  }

  static Header* New(size_t size, size_t index) {
    if (size > std::numeric_limits<size_t>::max() / 4) return nullptr;
    const size_t whole =
        (sizeof(Header) + size + kAlignment - 1) / kAlignment * kAlignment;
    void* const made = IsLarge(index) ? LargePages::Take(whole)
                                      : std::aligned_alloc(kAlignment, whole);
    if (made == nullptr) return nullptr;
    auto* const header = new (made) Header;
    header->index = index;
    return header;
  }

  static void Delete(Header* header) {
    if (!IsLarge(header->index)) return std::free(header);
    LargePages::Give(header, sizeof(Header) + SizeOf(header->index));
  }

  void Free(Header* header) {
    num_held_.fetch_sub(SizeOf(header->index), std::memory_order_relaxed);
    Delete(header);
  }

  void Keep(Header* header) {
    num_kept_.fetch_add(SizeOf(header->index), std::memory_order_relaxed);
    Class& its = classes_[header->index];
    const MutexLock lock(&its.mu);
    header->next = its.first;
    its.first = header;
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
  std::atomic<size_t> num_held_{0};
  std::atomic<size_t> num_lent_{0};
  std::atomic<size_t> most_taken_{0};
  std::array<Class, kNumClasses> classes_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_MEMORY_POOL_H_
