#ifndef RECURSIVE_TF_CC_TF_FRAME_OPS_H_
#define RECURSIVE_TF_CC_TF_FRAME_OPS_H_

#include "absl/status/status.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Puts one op in the place of the ops that give a function's arguments, and one
// in the place of those that return its results. To TensorFlow's executor each
// is an op like another, which takes about a microsecond, and a large block
// keeps hundreds of values for its gradient. REQUIRES: `graph` is ready to run:
// passes know arguments by their own ops.
absl::Status JoinFrameOps(tensorflow::Graph* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_FRAME_OPS_H_
