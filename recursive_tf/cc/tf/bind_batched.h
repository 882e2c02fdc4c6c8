#ifndef RECURSIVE_TF_CC_TF_BIND_BATCHED_H_
#define RECURSIVE_TF_CC_TF_BIND_BATCHED_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/batched_backward.h"
#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/late_parts.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Checks that the plan of a program fits its functions and the root op.
// `functions` are those of the plan's blocks, then the prologue, which takes
// `prologue_captures`, and then its late parts; the first also give what is
// kept if `keep`.
absl::Status BindForward(const BatchedSpec& program,
                         const std::vector<BlockSpec>& functions,
                         const LateParts& late, const RootTypes& types,
                         const std::vector<int32_t>& prologue_captures,
                         bool keep,
                         const tensorflow::FunctionLibraryDefinition& library);

// Which values of a root call have gradients, and of which types these are.
struct BackwardTypes {
  std::vector<int32_t> results;
  std::vector<int32_t> tables;
  std::vector<int32_t> arguments;
  std::vector<int32_t> prologue_outputs;
  tensorflow::DataTypeVector of_results;
  tensorflow::DataTypeVector of_tables;
  tensorflow::DataTypeVector of_arguments;
  tensorflow::DataTypeVector of_prologue;
  // How many values each deferred part gives.
  std::vector<int32_t> deferred_counts;
};

// The same for the gradient. `functions` are as in `spec`.
absl::Status BindBackward(const BatchedBackwardSpec& spec,
                          const std::vector<BlockSpec>& functions,
                          const BackwardTypes& types,
                          const tensorflow::FunctionLibraryDefinition& library);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BIND_BATCHED_H_
