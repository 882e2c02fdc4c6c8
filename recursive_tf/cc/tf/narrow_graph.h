#ifndef RECURSIVE_TF_CC_TF_NARROW_GRAPH_H_
#define RECURSIVE_TF_CC_TF_NARROW_GRAPH_H_

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Gives a procedure's graph one node at its start, and one after each call, for
// which all others wait. An executor schedules every node by itself that it can
// start with or that an asynchronous op sets free, however little it does; of
// those that another node sets free it runs the short ones in place.
//
// REQUIRES: this is the last change of the graph.
void NarrowGraph(tensorflow::Graph* graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_NARROW_GRAPH_H_
