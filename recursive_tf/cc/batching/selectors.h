#ifndef RECURSIVE_TF_CC_BATCHING_SELECTORS_H_
#define RECURSIVE_TF_CC_BATCHING_SELECTORS_H_

#include <cstdint>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// Reads what decides which branch is taken: the only values that the core of
// the batched executor ever looks at.
class Selectors {
 public:
  virtual ~Selectors() = default;

  // Returns the number of the branch that the scalar at `row` stands for.
  virtual int32_t Read(ValueRow row) = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_SELECTORS_H_
