#ifndef RECURSIVE_TF_CC_BASE_LARGE_PAGES_H_
#define RECURSIVE_TF_CC_BASE_LARGE_PAGES_H_

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace recursive_tf {

// Memory straight from the system, in large pages where it has them: new pages,
// and addresses of many, take as long as a copy. What is given back is the
// system's at once. The allocator would keep it, in pieces that fit little.
class LargePages {
 public:
  // How large a page is; memory begins where one does.
  static constexpr size_t kSize = size_t{2} << 20;

  // Returns memory for so many bytes, 0 everywhere; null if there is none.
  static void* Take(size_t num_bytes) {
    const size_t size = Whole(num_bytes);
    // Of a page more, what stands before and behind whole ones is not wanted.
    void* const mapped = mmap(nullptr, size + kSize, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    const size_t before =
        (kSize - reinterpret_cast<uintptr_t>(mapped) % kSize) % kSize;
    char* const made = static_cast<char*>(mapped) + before;
    if (before > 0) munmap(mapped, before);
    munmap(made + size, kSize - before);
    // What the system cannot do makes it slower, and is no error.
    madvise(made, size, MADV_HUGEPAGE);
    return made;
  }

  // Gives back what Take returned for so many bytes.
  static void Give(void* memory, size_t num_bytes) {
    munmap(memory, Whole(num_bytes));
  }

 private:
  static size_t Whole(size_t num_bytes) {
    return (num_bytes + kSize - 1) / kSize * kSize;
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_LARGE_PAGES_H_
