#ifndef RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_
#define RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_

#include <cstdint>

#include "absl/status/status.h"

namespace recursive_tf {

// Returns the error of an invocation that asks for a key that waits for it.
absl::Status CycleError(int64_t key);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_CYCLE_ERROR_H_
