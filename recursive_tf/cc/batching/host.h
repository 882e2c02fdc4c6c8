#ifndef RECURSIVE_TF_CC_BATCHING_HOST_H_
#define RECURSIVE_TF_CC_BATCHING_HOST_H_

#include <cstdint>

#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"

namespace recursive_tf {

// After how many activations that go on without a launch a run asks whether it
// is cancelled.
constexpr int64_t kTakenToAsk = 1024;

// Who holds the tensors of a run, as the core of the batched executor sees it.
class Host {
 public:
  virtual ~Host() = default;

  // Returns the integers that stand in the rows of a value: with counts the
  // only values that anyone but a block looks at. They are valid as long as
  // somebody reads the value, and empty if the rows are something else.
  virtual Scalars Numbers(int32_t value) const = 0;

  // The same for numbers of branches, and for keys. If the rows are something
  // else, the run ends at its next launch.
  virtual Scalars Selectors(int32_t value) = 0;
  virtual Scalars Keys(int32_t value) = 0;

  // Returns the first number of what is at `row`: how many items a list has.
  virtual int32_t ReadCount(ValueRow row) = 0;

  // Writes `value` to row `index` of a table of the root call. Returns false if
  // that cannot be, which ends the run.
  virtual bool Push(int32_t table, ValueRow index, ValueRow value) = 0;

  // Returns whether the run is to end, because somebody outside gave it up.
  virtual bool IsCancelled() = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_HOST_H_
