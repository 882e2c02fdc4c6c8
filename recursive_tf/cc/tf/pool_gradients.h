#ifndef RECURSIVE_TF_CC_TF_POOL_GRADIENTS_H_
#define RECURSIVE_TF_CC_TF_POOL_GRADIENTS_H_

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Puts RecursiveMaxPoolGradient in the place of each gradient of a max pooling
// that it can compute.
//
// The pooling itself is in a forward body, and a gradient in a backward one.
// TensorFlow takes oneDNN's kernel for a gradient only beside its pooling,
// which writes down where the largest numbers are. Eigen's, which is left, runs
// on one thread for each image and takes ten times as long.
void ReplacePoolGradients(tensorflow::Graph* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_POOL_GRADIENTS_H_
