#ifndef RECURSIVE_TF_CC_TF_SIMPLIFY_GRAPH_H_
#define RECURSIVE_TF_CC_TF_SIMPLIFY_GRAPH_H_

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Removes from a procedure's lowered graph what only costs time: copies of
// values, no-ops, control edges that decide nothing, and what neither a result
// nor an effect needs. Lowering a conditional leaves more of these than ops of
// the body: of 38 nodes of a Fibonacci body, 15 stay.
//
// Results, effects and their order are the same. Loops are left as they are.
void SimplifyGraph(tensorflow::Graph* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SIMPLIFY_GRAPH_H_
