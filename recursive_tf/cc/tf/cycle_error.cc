#include "recursive_tf/cc/tf/cycle_error.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace recursive_tf {

absl::Status CycleError(int64_t key) {
  return absl::FailedPreconditionError(absl::StrCat(
      "it asks for the key ", key,
      " of memo=, which waits for this invocation itself, so that neither can "
      "go on. What an invocation calls must lead to other keys: look for a "
      "cycle in the data, or for unlike inputs that memo= gives one key."));
}

}  // namespace recursive_tf
