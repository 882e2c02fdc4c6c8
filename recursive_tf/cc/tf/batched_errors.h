#ifndef RECURSIVE_TF_CC_TF_BATCHED_ERRORS_H_
#define RECURSIVE_TF_CC_TF_BATCHED_ERRORS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/batched_program.h"

namespace recursive_tf {

// Says where in a run an error came from: the SubGraph, and the invocations'
// paths.
class BatchedErrors {
 public:
  // Both must outlive this.
  BatchedErrors(const BatchedSpec* program, const Steps* steps, bool mapped)
      : program_(*program), steps_(*steps), mapped_(mapped) {}

  absl::Status FailedLaunch(const Launch& launch,
                            std::optional<int64_t> failed_row,
                            absl::Status status) const;

  // The same if its activations have gone on, and some returned.
  absl::Status FailedBlock(int32_t block, const absl::Status& status) const;

  absl::Status FailedAt(int32_t subgraph, const std::string& where,
                        const absl::Status& status) const;

  // Returns why there is no next launch, unless all is done. `push_status` is
  // why a push was refused, if one was. REQUIRES: the run is not cancelled.
  absl::Status Refusal(const ActivationLimits& limits,
                       const absl::Status& push_status) const;

 private:
  absl::Status FailedIn(int32_t activation, const absl::Status& status) const;
  std::string PathOf(int32_t activation) const;
  // Returns those of the first few.
  std::string PathsOf(const Launch& launch) const;

  const BatchedSpec& program_;
  const Steps& steps_;
  const bool mapped_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_ERRORS_H_
