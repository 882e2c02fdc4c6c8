#ifndef RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_
#define RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_

#include <cstdint>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// Reads the limits of a root op. What it holds by default is a share of the
// memory of the machine where it runs, which may not be that of the trace.
absl::Status ReadLimits(tensorflow::OpKernelConstruction* ctx,
                        ActivationLimits* limits);

// Returns the error of a call that was one too many: which limit, and the
// option to raise. REQUIRES: `verdict` is not kEntered.
absl::Status LimitError(ActivationTree::Verdict verdict,
                        const ActivationLimits& limits);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_LIMIT_ERROR_H_
