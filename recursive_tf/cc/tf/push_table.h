#ifndef RECURSIVE_TF_CC_TF_PUSH_TABLE_H_
#define RECURSIVE_TF_CC_TF_PUSH_TABLE_H_

#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/runtime/row_claims.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Gathers the values that invocations push under one name, a row each (Cavs'
// push). Rows that nobody pushes are zero.
//
// Thread safety: Push may be called from any thread; Result after the last
// Push.
class PushTable {
 public:
  PushTable(std::string name, int64_t size, tensorflow::DataType dtype,
            tensorflow::PartialTensorShape row_shape);

  // Returns an error if the table is larger than memory. Then nothing else may
  // be called.
  absl::Status CheckMemory() const;

  absl::Status Push(int64_t index, const tensorflow::Tensor& value);

  // The same in two steps, for many rows at once, on one thread alone: takes
  // row `index`; then sets `*table` to the table, to whose taken rows the rows
  // of `values` may be copied.
  absl::Status Claim(int64_t index) {
    const RowClaims::Verdict verdict = claims_.ClaimAlone(index);
    if (verdict == RowClaims::Verdict::kClaimed) return absl::OkStatus();
    return NotClaimed(verdict, index);
  }
  absl::Status TableOf(const tensorflow::Tensor& values,
                       tensorflow::Tensor* table);

  // Sets `*result` to a tensor [size, row...].
  absl::Status Result(tensorflow::Tensor* result);

 private:
  // Returns the table, made when the first row tells its shape. Its rows are
  // then written without the lock, because each is claimed by one writer.
  absl::Status TableFor(const tensorflow::TensorShape& row_shape,
                        tensorflow::Tensor* table);
  // Returns why a row was not claimed, if it was not.
  absl::Status NotClaimed(RowClaims::Verdict verdict, int64_t index) const;
  // Returns an error if values of a dtype cannot be pushed.
  absl::Status CheckType(tensorflow::DataType dtype) const;

  // Sets the rows that nobody pushed to zeros.
  void ClearRowsOfNobody() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  const std::string name_;
  const tensorflow::DataType dtype_;
  const tensorflow::PartialTensorShape row_shape_;

  RowClaims claims_;
  Mutex mu_;
  tensorflow::Tensor table_ ABSL_GUARDED_BY(mu_);
  bool is_made_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PUSH_TABLE_H_
