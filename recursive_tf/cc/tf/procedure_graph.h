#ifndef RECURSIVE_TF_CC_TF_PROCEDURE_GRAPH_H_
#define RECURSIVE_TF_CC_TF_PROCEDURE_GRAPH_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

using GraphEdit = std::function<void(tensorflow::Graph*)>;

// Sets `*graph` to the body of the function `name` of `library`, as it was
// traced.
absl::Status CopyBody(const std::string& name,
                      tensorflow::FunctionLibraryDefinition* library,
                      std::unique_ptr<tensorflow::Graph>* graph);

// Sets `*graph` to the body of the function `name` of `library`, as it should
// run on the device of `runtime`.
//
// The body of a function passes none of the rewriting that TensorFlow gives to
// the graph of a step. This does what matters here: control flow is lowered to
// Switch and Merge (an `If` op would run a second executor a level), constants
// are folded, what is left over goes, and the post-partitioning passes run,
// which put oneDNN's kernels in the place of Eigen's. The traced function, and
// so a saved model, stays portable.
//
// `edit`, if there is one, changes the traced body first.
absl::Status BuildProcedureGraph(const std::string& name,
                                 tensorflow::FunctionLibraryRuntime* runtime,
                                 tensorflow::FunctionLibraryDefinition* library,
                                 std::unique_ptr<tensorflow::Graph>* graph,
                                 const GraphEdit& edit = nullptr);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PROCEDURE_GRAPH_H_
