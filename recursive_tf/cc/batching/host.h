#ifndef RECURSIVE_TF_CC_BATCHING_HOST_H_
#define RECURSIVE_TF_CC_BATCHING_HOST_H_

#include <cstdint>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// After how many rounds of calls and returns without a launch a run asks
// whether it is cancelled: between two launches there are rarely more than a
// few.
constexpr int64_t kRoundsToAsk = 1024;

// Who holds the tensors of a run, as the core of the batched executor sees it.
class Host {
 public:
  virtual ~Host() = default;

  // Returns the number of the branch that the scalar at `row` stands for: with
  // keys, counts and pushed indices the only values that anyone but a block
  // looks at.
  virtual int32_t ReadSelector(ValueRow row) = 0;

  // Sets `*number` to the integer that the scalar at `row` is. Returns false if
  // it is something else.
  virtual bool ReadNumber(ValueRow row, int64_t* number) const = 0;

  // Returns the key that the scalar at `row` is.
  virtual int64_t ReadKey(ValueRow row) = 0;

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
