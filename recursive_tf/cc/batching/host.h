#ifndef RECURSIVE_TF_CC_BATCHING_HOST_H_
#define RECURSIVE_TF_CC_BATCHING_HOST_H_

#include <cstddef>
#include <cstdint>

#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"

namespace recursive_tf {

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
  int64_t SelectorAt(ValueRow row) { return Selectors(row.value).At(row.row); }
  int64_t KeyAt(ValueRow row) { return Keys(row.value).At(row.row); }

  // Returns the first number of what is at `row`: how many items a list has.
  virtual int32_t ReadCount(ValueRow row) = 0;

  // Writes so many values to a table of the root call, in order, each to the
  // row that its index is. Returns how many: fewer if the next one cannot be
  // written, which ends the run.
  virtual size_t Push(int32_t table, const ValueRow* indices,
                      const ValueRow* values, size_t count) = 0;

  // Returns whether the run is to end, because somebody outside gave it up.
  virtual bool IsCancelled() = 0;
};

// Asks whether a run is cancelled, from time to time where nothing is launched.
class CancellationCheck {
 public:
  // `host` must outlive this.
  explicit CancellationCheck(Host* host) : host_(*host) {}

  // Says that so many activations go on. Returns whether the run is to end.
  bool IsCancelledAfter(size_t count) {
    num_taken_ += count;
    if (num_taken_ < kTakenToAsk) return false;
    num_taken_ = 0;
    return host_.IsCancelled();
  }

 private:
  static constexpr size_t kTakenToAsk = 1024;

  Host& host_;
  // Since it asked last.
  size_t num_taken_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_HOST_H_
