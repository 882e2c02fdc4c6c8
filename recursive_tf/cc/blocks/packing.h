#ifndef RECURSIVE_TF_CC_BLOCKS_PACKING_H_
#define RECURSIVE_TF_CC_BLOCKS_PACKING_H_

#include <cstdint>

#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// Numbers that are packed part by part, in any order and by any threads, before
// somebody reads them.
class Packing {
 public:
  Packing() = default;
  virtual ~Packing() = default;
  Packing(const Packing&) = delete;
  Packing& operator=(const Packing&) = delete;

  virtual int64_t num_parts() const = 0;
  // Thread safety: parts may be packed at the same time, each once.
  virtual void PackPart(int64_t part) = 0;

  // Packs all of them.
  void Pack(Team* team) {
    team->Run(num_parts(), [this](int64_t part) { PackPart(part); });
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PACKING_H_
