#include "recursive_tf/cc/tf/batched_host.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

int32_t BatchedHost::ReadSelector(ValueRow row) {
  const RowView& value = values_.view(row.value);
  if (value.dtype == tf::DT_BOOL && value.rank == 0) {
    return static_cast<const bool*>(value.data)[row.row] ? 1 : 0;
  }
  if (value.dtype == tf::DT_INT32 && value.rank == 0) {
    return static_cast<const int32_t*>(value.data)[row.row];
  }
  misread_.Update(Misread("the condition of a branch", row.value));
  return 0;
}

int64_t BatchedHost::ReadKey(ValueRow row) {
  int64_t key = 0;
  if (!ReadNumber(row, &key)) misread_.Update(Misread("memo=", row.value));
  return key;
}

bool BatchedHost::ReadNumber(ValueRow row, int64_t* number) const {
  const RowView& value = values_.view(row.value);
  if (value.rank != 0) return false;
  if (value.dtype == tf::DT_INT32) {
    *number = static_cast<const int32_t*>(value.data)[row.row];
    return true;
  }
  if (value.dtype == tf::DT_INT64) {
    *number = static_cast<const int64_t*>(value.data)[row.row];
    return true;
  }
  return false;
}

int32_t BatchedHost::ReadCount(ValueRow row) {
  const RowView& value = values_.view(row.value);
  if (value.dtype != tf::DT_INT32 || value.num_elements == 0) {
    misread_.Update(Misread("a number of items", row.value));
    return 0;
  }
  const auto* counts = static_cast<const int32_t*>(value.data);
  return std::max(counts[row.row * value.num_elements], 0);
}

bool BatchedHost::Push(int32_t table, ValueRow index, ValueRow value) {
  int64_t row = 0;
  push_status_ = ReadIndex(index, &row);
  if (push_status_.ok()) push_status_ = pushes_.Add(table, row, value);
  return push_status_.ok();
}

bool BatchedHost::IsCancelled() { return !step_.CheckCancelled().ok(); }

absl::Status BatchedHost::ReadIndex(ValueRow row, int64_t* index) const {
  if (ReadNumber(row, index)) return absl::OkStatus();
  return Misread("index= of a push", row.value);
}

absl::Status BatchedHost::Misread(const char* what, int32_t value) const {
  tf::TensorShape shape = values_[value].shape();
  if (shape.dims() > 0) shape.RemoveDim(0);
  return absl::InvalidArgumentError(absl::StrCat(
      what, " must be a scalar number; got the shape ", shape.DebugString(),
      " and the dtype ", tf::DataTypeString(values_.view(value).dtype), "."));
}

}  // namespace recursive_tf
