#include "recursive_tf/cc/tf/push_table.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/runtime/row_claims.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/batch_util.h"

namespace recursive_tf {

namespace tf = tensorflow;

PushTable::PushTable(std::string name, int64_t size, tf::DataType dtype,
                     tf::PartialTensorShape row_shape)
    : name_(std::move(name)),
      dtype_(dtype),
      row_shape_(std::move(row_shape)),
      claims_(size) {}

absl::Status PushTable::CheckMemory() const {
  if (claims_.has_memory()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for the ", claims_.num_rows(), " rows of push '",
                   name_, "'. Check size= of the push."));
}

absl::Status PushTable::TableFor(const tf::TensorShape& row_shape,
                                 tf::Tensor* table) {
  MutexLock lock(&mu_);
  if (!is_made_) {
    tf::TensorShape shape = row_shape;
    TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, claims_.num_rows()));
    const absl::Status made = NewTensorOfShape(dtype_, shape, &table_);
    if (!made.ok()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("push '", name_, "': ", made.message()));
    }
    is_made_ = true;
  }
  tf::TensorShape expected = table_.shape();
  expected.RemoveDim(0);
  if (expected != row_shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "push '", name_, "' got a value of shape ", row_shape.DebugString(),
        ", but another invocation pushed ", expected.DebugString(),
        ". All values of one name need one shape."));
  }
  *table = table_;
  return absl::OkStatus();
}

absl::Status PushTable::CheckType(tf::DataType dtype) const {
  if (dtype == dtype_) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("push '", name_, "' got a ", tf::DataTypeString(dtype),
                   " for a table of ", tf::DataTypeString(dtype_)));
}

absl::Status PushTable::NotClaimed(RowClaims::Verdict verdict,
                                   int64_t index) const {
  switch (verdict) {
    case RowClaims::Verdict::kClaimed:
      return absl::OkStatus();
    case RowClaims::Verdict::kTaken:
      return absl::InvalidArgumentError(absl::StrCat(
          "push '", name_, "' to row ", index,
          " happened twice. Each row takes the value of one invocation; give "
          "every invocation an index of its own."));
    case RowClaims::Verdict::kOutOfRange:
      return absl::OutOfRangeError(absl::StrCat(
          "push '", name_, "' to row ", index, " is outside of [0, ",
          claims_.num_rows(), "). Check index= and size= of the push."));
  }
  return absl::InternalError("unreachable");
}

absl::Status PushTable::Push(int64_t index, const tf::Tensor& value) {
  TF_RETURN_IF_ERROR(CheckType(value.dtype()));
  TF_RETURN_IF_ERROR(NotClaimed(claims_.Claim(index), index));
  tf::Tensor table;
  TF_RETURN_IF_ERROR(TableFor(value.shape(), &table));
  // TensorFlow's copy crashes on rows without elements.
  if (value.NumElements() == 0) return absl::OkStatus();
  return tf::batch_util::CopyElementToSlice(value, &table, index);
}

absl::Status PushTable::TableOf(const tf::Tensor& values, tf::Tensor* table) {
  TF_RETURN_IF_ERROR(CheckType(values.dtype()));
  tf::TensorShape shape = values.shape();
  shape.RemoveDim(0);
  return TableFor(shape, table);
}

absl::Status PushTable::Result(tf::Tensor* result) {
  {
    MutexLock lock(&mu_);
    if (is_made_) {
      ClearRowsOfNobody();
      *result = table_;
      return absl::OkStatus();
    }
  }
  tf::TensorShape row_shape;
  if (!row_shape_.AsTensorShape(&row_shape)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no invocation pushed '", name_, "', and its shape ",
        row_shape_.DebugString(),
        " is not known before. Give the pushed value a static shape, e.g. with "
        "tf.ensure_shape."));
  }
  TF_RETURN_IF_ERROR(TableFor(row_shape, result));
  MutexLock lock(&mu_);
  ClearRowsOfNobody();
  return absl::OkStatus();
}

void PushTable::ClearRowsOfNobody() {
  // Tensors of other types are made empty.
  if (!tf::DataTypeCanUseMemcpy(dtype_) || table_.TotalBytes() == 0) return;
  const RowView rows(table_);
  for (int64_t row = 0; row < claims_.num_rows(); ++row) {
    if (!claims_.IsTaken(row)) ClearRow(rows, row);
  }
}

}  // namespace recursive_tf
