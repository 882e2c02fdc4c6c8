#ifndef RECURSIVE_TF_CC_SCHEDULING_CORES_H_
#define RECURSIVE_TF_CC_SCHEDULING_CORES_H_

#include <vector>

namespace recursive_tf {

// Returns the cores that this process may use, in order; empty where the
// system does not say.
std::vector<int> UsableCores();

// Keeps the calling thread on `cores`, as far as the system lets it. Without
// any, it stays where it is.
void StayOn(const std::vector<int>& cores);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_SCHEDULING_CORES_H_
