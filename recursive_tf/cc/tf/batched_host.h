#ifndef RECURSIVE_TF_CC_TF_BATCHED_HOST_H_
#define RECURSIVE_TF_CC_TF_BATCHED_HOST_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"
#include "recursive_tf/cc/tf/batched_pushes.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/row_values.h"

namespace recursive_tf {

// Reads for the lock step what decides of calls, and pushes rows for it.
class BatchedHost : public Host {
 public:
  // All of them must outlive this.
  BatchedHost(const RowValues* values, BatchedPushes* pushes,
              const BatchedStep* step)
      : values_(*values), pushes_(*pushes), step_(*step) {}

  Scalars Selectors(int32_t value) override;
  Scalars Keys(int32_t value) override;
  Scalars Numbers(int32_t value) const override;
  int32_t ReadCount(ValueRow row) override;
  size_t Push(int32_t table, const ValueRow* indices, const ValueRow* values,
              size_t count) override;
  bool IsCancelled() override;

  // Returns an error if what was read was no number: the run ends at the next
  // launch.
  const absl::Status& misread() const { return misread_; }

  // Returns why the last push was refused, if it was.
  const absl::Status& push_status() const { return push_status_; }

 private:
  // Says that `what` was to be read of a value that is no scalar for it.
  absl::Status Misread(const char* what, int32_t value) const;

  const RowValues& values_;
  BatchedPushes& pushes_;
  const BatchedStep& step_;
  absl::Status misread_;
  absl::Status push_status_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BATCHED_HOST_H_
