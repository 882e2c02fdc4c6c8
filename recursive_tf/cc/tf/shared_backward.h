#ifndef RECURSIVE_TF_CC_TF_SHARED_BACKWARD_H_
#define RECURSIVE_TF_CC_TF_SHARED_BACKWARD_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/backward_run.h"

namespace recursive_tf {

// Runs the gradients of the shared invocations, once each, when all their
// consumers have contributed: from the highest down, those of one height at the
// same time. Calls `done` with what became of it, on any thread. If `status`,
// of the rows of the root call, is an error, that is all there is to it.
void RunSharedGradients(const std::shared_ptr<BackwardRun>& run,
                        const absl::Status& status,
                        std::function<void(const absl::Status&)> done);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SHARED_BACKWARD_H_
