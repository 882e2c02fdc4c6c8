#ifndef RECURSIVE_TF_CC_LAYOUT_RUN_LAYOUT_H_
#define RECURSIVE_TF_CC_LAYOUT_RUN_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/launch_reads.h"

namespace recursive_tf {

// Bytes of rows that launches read of earlier ones.
struct ReadBytes {
  int64_t all = 0;
  // Of reads whose rows stand side by side, in order: as they were computed,
  // and in the layout.
  int64_t in_order = 0;
  int64_t in_order_planned = 0;
};

// What a memory layout would bring to a run.
struct RunLayout {
  // Of launches of functions, which copy rows that do not stand in order.
  ReadBytes of_functions;
  // Of block programs, which read rows where they stand and copy none.
  ReadBytes of_programs;
};

// Plans where the rows that the launches of a run compute would stand, all
// outputs of a launch in one order, and says which reads find theirs in order
// then. Those of different launches may stand side by side.
//
// A read of one row for each of the launch's is an operand of the launch. One
// of items of lists, or of joined rows, is to stand side by side if it is
// possible; whether it is also in the order of its readers is not planned. What
// is said of a read is checked. REQUIRES: all numbers are in range.
RunLayout PlanRun(const std::vector<RecordedLaunch>& launches);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_RUN_LAYOUT_H_
