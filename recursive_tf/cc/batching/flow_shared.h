#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_SHARED_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_SHARED_H_

#include <cstdint>

#include "recursive_tf/cc/batching/flow_table.h"

namespace recursive_tf {

// What there is more of an invocation of a flow that is shared. Has a
// constructor for the reason that RowRun has one, as FlowWaiter does.
struct FlowShared {
  static constexpr int32_t kNoWaiter = -1;
  // So many that waiters of most invocations are found without a look at all
  // waiters, where those of one stand far from each other.
  static constexpr int32_t kFew = 5;

  explicit FlowShared(int64_t key) : key(key) {}

  int64_t key;
  // The calls that wait for it: how many, the last of them, and who makes the
  // first few.
  int32_t num_waiters = 0;
  int32_t last_waiter = kNoWaiter;
  FlowInvocation* first[kFew];
  bool has_ended = false;
};

// A call that waits for one that is shared.
struct FlowWaiter {
  FlowWaiter(FlowInvocation* by, int32_t site, int32_t item, int32_t before)
      : by(by), site(site), item(item), before(before) {}

  FlowInvocation* by;
  int32_t site;
  int32_t item;
  // The one before it, for the same.
  int32_t before;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_SHARED_H_
