#ifndef RECURSIVE_TF_CC_TF_PAIR_POOLS_H_
#define RECURSIVE_TF_CC_TF_PAIR_POOLS_H_

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Puts the pooling itself beside each gradient of a max pooling that was
// computed elsewhere, as that of a forward body is.
//
// oneDNN's gradient takes from its pooling which number was the largest, so
// TensorFlow's rewriting takes it only where both stand in one graph. Otherwise
// Eigen's looks for the numbers again, which takes ten times as long as both.
// Nothing changes where oneDNN is switched off.
void PairPools(tensorflow::Graph* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PAIR_POOLS_H_
