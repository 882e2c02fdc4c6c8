#include "recursive_tf/cc/tf/stack_rows.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/util/batch_util.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// What comes of a gradient of the user's own that is not like its value.
absl::Status UnlikeGradients(const tf::Tensor& a, const tf::Tensor& b) {
  return absl::InvalidArgumentError(absl::StrCat(
      "two gradients of one value are a ", tf::DataTypeString(a.dtype()),
      " of the shape ", a.shape().DebugString(), " and a ",
      tf::DataTypeString(b.dtype()), " of the shape ", b.shape().DebugString(),
      ". A gradient needs the dtype and the shape of its value, also that of a "
      "tf.custom_gradient"));
}

bool HaveLikeRows(const tf::Tensor& a, const tf::Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims() || a.dims() == 0) {
    return false;
  }
  for (int d = 1; d < a.dims(); ++d) {
    if (a.dim_size(d) != b.dim_size(d)) return false;
  }
  return true;
}

// TensorFlow's takes it for granted that there is memory.
absl::Status Concat(absl::Span<const tf::Tensor> parts, tf::Tensor* result) {
  int64_t num_rows = 0;
  for (const tf::Tensor& part : parts) num_rows += part.dim_size(0);
  tf::TensorShape shape = parts.front().shape();
  TF_RETURN_IF_ERROR(shape.SetDimWithStatus(0, num_rows));
  TF_RETURN_IF_ERROR(NewTensorOfShape(parts.front().dtype(), shape, result));
  if (result->NumElements() == 0) return absl::OkStatus();
  int64_t to_row = 0;
  for (const tf::Tensor& part : parts) {
    CopyRows(RowView(part), 0, part.dim_size(0), RowView(*result), to_row);
    to_row += part.dim_size(0);
  }
  return absl::OkStatus();
}

// Checks that `value` can be added to `*total`, which gets memory of its own.
absl::Status OwnTotal(const tf::Tensor& value, tf::Tensor* total) {
  if (value.dtype() != total->dtype() || value.shape() != total->shape()) {
    return UnlikeGradients(*total, value);
  }
  if (!CanAdd(total->dtype())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "No gradient has the dtype ", tf::DataTypeString(total->dtype())));
  }
  if (total->RefCountIsOne() || total->NumElements() == 0) {
    return absl::OkStatus();
  }
  tf::Tensor own;
  TF_RETURN_IF_ERROR(NewTensorOfShape(total->dtype(), total->shape(), &own));
  std::memcpy(own.data(), total->data(), total->TotalBytes());
  *total = std::move(own);
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyRow(const tf::Tensor& rows, int64_t index,
                     tf::Tensor* result) {
  tf::TensorShape shape = rows.shape();
  shape.RemoveDim(0);
  TF_RETURN_IF_ERROR(NewTensorOfShape(rows.dtype(), shape, result));
  // TensorFlow's copy crashes on rows without elements.
  if (result->NumElements() == 0) return absl::OkStatus();
  return tf::batch_util::CopySliceToElement(rows, result, index);
}

absl::Status StackRows(absl::Span<const tf::Tensor> rows,
                       const std::string& what, tf::Tensor* result) {
  tf::TensorShape shape = rows.front().shape();
  for (const tf::Tensor& row : rows) {
    if (row.shape() != shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " has the shape ", shape.DebugString(),
          " in the first row of the map and ", row.shape().DebugString(),
          " in another. Rows are stacked, so all need one shape."));
    }
  }
  TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, rows.size()));
  TF_RETURN_IF_ERROR(NewTensorOfShape(rows.front().dtype(), shape, result));
  if (result->NumElements() == 0) return absl::OkStatus();
  for (size_t i = 0; i < rows.size(); ++i) {
    TF_RETURN_IF_ERROR(tf::batch_util::CopyElementToSlice(rows[i], result, i));
  }
  return absl::OkStatus();
}

absl::Status StackNoRows(tf::DataType dtype,
                         const tf::PartialTensorShape& row_shape,
                         const std::string& what, tf::Tensor* result) {
  tf::TensorShape shape;
  if (!row_shape.AsTensorShape(&shape)) {
    return absl::InvalidArgumentError(absl::StrCat(
        what, " of a map over no rows has the shape ", row_shape.DebugString(),
        " a row, so the shape of the result is not known. Give it a static "
        "shape in the output signature, or map over at least one row."));
  }
  TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, 0));
  return NewTensorOfShape(dtype, shape, result);
}

absl::Status ConcatRows(absl::Span<const tf::Tensor> parts, tf::DataType dtype,
                        const tf::PartialTensorShape& shape,
                        tf::Tensor* result) {
  for (const tf::Tensor& part : parts) {
    if (!HaveLikeRows(parts.front(), part)) {
      return UnlikeGradients(parts.front(), part);
    }
  }
  if (!parts.empty()) return Concat(parts, result);
  tf::PartialTensorShape no_rows = shape;
  tf::TensorShape full;
  if (shape.dims() > 0) no_rows.set_dim(0, 0);
  if (shape.dims() < 1 || !no_rows.AsTensorShape(&full)) {
    return absl::InternalError(
        "A collected capture gradient has no static row shape.");
  }
  return NewTensorOfShape(dtype, full, result);
}

absl::Status AddTensors(const tf::Tensor& value, tf::Tensor* total) {
  TF_RETURN_IF_ERROR(OwnTotal(value, total));
  AddNumbers(total->dtype(), value.data(), total->NumElements(), total->data());
  return absl::OkStatus();
}

absl::Status AddTensorsBy(Team* team, const tf::Tensor& value,
                          tf::Tensor* total) {
  TF_RETURN_IF_ERROR(OwnTotal(value, total));
  const int64_t count = total->NumElements();
  const int64_t size = tf::DataTypeSize(total->dtype());
  const int64_t threads =
      count * size < kBytesToShare ? 1 : team->num_threads();
  const auto* const from = static_cast<const char*>(value.data());
  auto* const to = static_cast<char*>(total->data());
  team->Run(threads, [&](int64_t thread) {
    const int64_t first = count * thread / threads;
    const int64_t end = count * (thread + 1) / threads;
    AddNumbers(total->dtype(), from + first * size, end - first,
               to + first * size);
  });
  return absl::OkStatus();
}

}  // namespace recursive_tf
