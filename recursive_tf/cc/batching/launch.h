#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// One run of a block for all of `activations`. Its outputs are the values from
// `first_value` on; row i of each belongs to activation i.
struct Launch {
  int32_t block = kNoBlock;
  int32_t first_value = 0;
  std::vector<int32_t> activations;
  std::vector<JoinedRows> inputs;

  int32_t num_rows() const { return static_cast<int32_t>(activations.size()); }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_H_
