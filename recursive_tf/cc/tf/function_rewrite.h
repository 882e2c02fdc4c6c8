#ifndef RECURSIVE_TF_CC_TF_FUNCTION_REWRITE_H_
#define RECURSIVE_TF_CC_TF_FUNCTION_REWRITE_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"

namespace recursive_tf {

// Adds to `library` a copy of the function `name` as it should run on `device`,
// and sets `*rewritten` to the copy's name.
//
// A function that a kernel instantiates passes none of the rewriting that
// TensorFlow gives to the graph of a step. This does what matters here: control
// flow is lowered to Switch and Merge (an `If` op would run a second executor a
// level), and the post-partitioning passes run, which put oneDNN's kernels in
// the place of Eigen's. Only the copy is changed: the traced graph, and so a
// saved model, stays portable.
absl::Status RewriteForExecution(const std::string& name,
                                 const std::string& device,
                                 tensorflow::FunctionLibraryDefinition* library,
                                 std::string* rewritten);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FUNCTION_REWRITE_H_
