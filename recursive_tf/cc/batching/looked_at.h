#ifndef RECURSIVE_TF_CC_BATCHING_LOOKED_AT_H_
#define RECURSIVE_TF_CC_BATCHING_LOOKED_AT_H_

#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {

// Says of each block of a plan whether calls are followed by what it gives: as
// a selector, a key, a number of items or a pushed index, in its own stage or
// wherever it is handed on to. What no such block gives need not be there yet
// when its activations go on: calls and returns only say where rows go.
//
// Cost: linear in the plan for each step that a value is handed on.
std::vector<bool> FindLookedAt(const Plan& plan);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LOOKED_AT_H_
