#include "recursive_tf/cc/tf/batched_host.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

Scalars BatchedHost::Selectors(int32_t value) {
  const RowView& rows = values_.view(value);
  if (rows.rank == 0 && rows.dtype == tf::DT_BOOL) {
    return Scalars(static_cast<const bool*>(rows.data));
  }
  if (rows.rank == 0 && rows.dtype == tf::DT_INT32) {
    return Scalars(static_cast<const int32_t*>(rows.data));
  }
  misread_.Update(Misread("the condition of a branch", value));
  return Scalars();
}

Scalars BatchedHost::Keys(int32_t value) {
  const Scalars keys = Numbers(value);
  if (keys.empty()) misread_.Update(Misread("memo=", value));
  return keys;
}

Scalars BatchedHost::Numbers(int32_t value) const {
  const RowView& rows = values_.view(value);
  if (rows.rank == 0 && rows.dtype == tf::DT_INT32) {
    return Scalars(static_cast<const int32_t*>(rows.data));
  }
  if (rows.rank == 0 && rows.dtype == tf::DT_INT64) {
    return Scalars(static_cast<const int64_t*>(rows.data));
  }
  return Scalars();
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

size_t BatchedHost::Push(int32_t table, const ValueRow* indices,
                         const ValueRow* values, size_t count) {
  ScalarsOf numbers_of([this](int32_t value) { return Numbers(value); });
  for (size_t i = 0; i < count; ++i) {
    const Scalars& numbers = numbers_of(indices[i]);
    push_status_ =
        numbers.empty()
            ? Misread("index= of a push", indices[i].value)
            : pushes_.Add(table, numbers.At(indices[i].row), values[i]);
    if (!push_status_.ok()) return i;
  }
  return count;
}

bool BatchedHost::IsCancelled() { return !step_.CheckCancelled().ok(); }

absl::Status BatchedHost::Misread(const char* what, int32_t value) const {
  tf::TensorShape shape = values_[value].shape();
  if (shape.dims() > 0) shape.RemoveDim(0);
  return absl::InvalidArgumentError(absl::StrCat(
      what, " must be a scalar number; got the shape ", shape.DebugString(),
      " and the dtype ", tf::DataTypeString(values_.view(value).dtype), "."));
}

}  // namespace recursive_tf
