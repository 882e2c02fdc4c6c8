#ifndef RECURSIVE_TF_CC_BASE_MACHINE_MEMORY_H_
#define RECURSIVE_TF_CC_BASE_MACHINE_MEMORY_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace recursive_tf {

// Returns `bytes`, or the limit of a control group if that is less. `path` is
// where the group says it.
inline int64_t WithinGroup(int64_t bytes, const std::string& path) {
  int64_t limit = 0;
  // What says "max" is no number, and no limit.
  const bool has_limit = (std::ifstream(path) >> limit) && limit > 0;
  return has_limit ? std::min(bytes, limit) : bytes;
}

// Returns how much memory this process may have, in bytes: that of the machine,
// or of the control group around it (version 2, or 1) if that is less.
inline int64_t MachineMemory() {
  int64_t bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
                  static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
  for (const char* path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    bytes = WithinGroup(bytes, path);
  }
  return bytes;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BASE_MACHINE_MEMORY_H_
