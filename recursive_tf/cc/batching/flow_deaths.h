#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_

#include <vector>

#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/flow_values.h"

namespace recursive_tf {

// Finds which outputs, arguments and results of calls of a flow anybody reads,
// and where each of them dies: on the edge after which nothing reads it.
// Results of shared invocations do not die: others may still ask for them.
//
// `guards` are, by stage, the branches that lead to it.
//
// Cost: the square of the number of stages, each time the number of values.
void FindFlowDeaths(const std::vector<FlowGuards>& guards, Flow* flow);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_
