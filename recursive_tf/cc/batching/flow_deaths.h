#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_

#include <vector>

#include "recursive_tf/cc/batching/shared_flow.h"

namespace recursive_tf {

// Finds which outputs and arguments of a flow anybody reads, and where each of
// them dies: on the edge after which nothing reads it. Results of calls do not
// die: others may still ask for them.
//
// `guards` are, by stage, the branches that lead to it.
//
// Cost: the square of the number of stages, each time the number of values.
void FindFlowDeaths(const std::vector<std::vector<FlowDeath::Guard>>& guards,
                    SharedFlow* flow);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_DEATHS_H_
