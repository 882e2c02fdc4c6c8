#ifndef RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_
#define RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {

// Returns the error of a call that was one too many: which limit, and the
// option to raise. REQUIRES: `verdict` is not kEntered.
absl::Status LimitError(ActivationTree::Verdict verdict,
                        const ActivationLimits& limits);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_
