#ifndef RECURSIVE_TF_CC_RUNTIME_MACHINE_MEMORY_H_
#define RECURSIVE_TF_CC_RUNTIME_MACHINE_MEMORY_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace recursive_tf {

// Returns how much memory this process may have, in bytes: that of the machine,
// or of the control group around it (version 2, or 1) if that is less.
inline int64_t MachineMemory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t limit = 0;
    // What says "max" is no number, and no limit.
    if (std::ifstream(path) >> limit && limit > 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_MACHINE_MEMORY_H_
