#ifndef RECURSIVE_TF_CC_TF_REPLACE_NODE_H_
#define RECURSIVE_TF_CC_TF_REPLACE_NODE_H_

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Puts `node` in the place of `replaced`, which goes. Its outputs from
// `first_output` on are what `replaced` gave. What it takes it has already, but
// it waits for whatever `replaced` waited for.
inline void ReplaceNode(tensorflow::Node* replaced, tensorflow::Node* node,
                        int first_output, tensorflow::Graph* graph) {
  for (const tensorflow::Edge* edge : replaced->in_edges()) {
    if (edge->IsControlEdge()) graph->AddControlEdge(edge->src(), node);
  }
  for (const tensorflow::Edge* edge : replaced->out_edges()) {
    if (edge->IsControlEdge()) {
      graph->AddControlEdge(node, edge->dst());
    } else {
      graph->AddEdge(node, first_output + edge->src_output(), edge->dst(),
                     edge->dst_input());
    }
  }
  graph->RemoveNode(replaced);
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_REPLACE_NODE_H_
