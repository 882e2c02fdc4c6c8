#ifndef RECURSIVE_TF_CC_TF_REWRITE_NETWORK_H_
#define RECURSIVE_TF_CC_TF_REWRITE_NETWORK_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/common_runtime/device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Lets TensorFlow's own optimizers (Grappler) rewrite the body of the function
// `name`, if that is a network: many ops, and no call among them. It becomes
// what a `tf.function` of the same ops would be: constants folded, powers that
// are squares, products and what follows them fused.
//
// Other bodies stay what they are. To rewrite one takes 0.1 ms for each op. A
// recursion has small bodies, whose time is that of calls, and gains nothing.
//
// It will run on `device`. Results, effects and errors
// are the same; numbers may differ in their last bits.
absl::Status RewriteNetwork(
    const std::string& name, tensorflow::Device* device,
    const tensorflow::FunctionLibraryDefinition& library,
    std::unique_ptr<tensorflow::Graph>* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_REWRITE_NETWORK_H_
