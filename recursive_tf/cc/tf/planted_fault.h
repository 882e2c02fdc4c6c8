#ifndef RECURSIVE_TF_CC_TF_PLANTED_FAULT_H_
#define RECURSIVE_TF_CC_TF_PLANTED_FAULT_H_

#include "absl/status/status.h"
#include "recursive_tf/cc/base/faults.h"

namespace recursive_tf {

inline absl::Status FaultOfATest() {
  return absl::InternalError("a test planted this fault");
}

// Returns an error if a test planted one there.
inline absl::Status PlantedFault(Faults::Kind kind) {
  if (!Faults::Global().Strikes(kind)) return absl::OkStatus();
  return FaultOfATest();
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PLANTED_FAULT_H_
