#ifndef RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_
#define RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"

namespace recursive_tf {

// Returns the error of an invocation that asks for a key that waits for it.
// Of `keys` each waits for the next, and the last for the first, which is what
// was asked for.
absl::Status CycleError(const std::vector<int64_t>& keys);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_
