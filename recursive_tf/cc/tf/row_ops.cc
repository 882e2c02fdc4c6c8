#include "recursive_tf/cc/tf/row_ops.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "Eigen/Core"
#include "absl/log/log.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/tstring.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

template <typename T>
T* ElementsAt(const RowView& rows, int64_t row) {
  return static_cast<T*>(rows.data) + row * rows.num_elements;
}

template <typename T>
void CopyElements(const RowView& from, int64_t row, int64_t count,
                  const RowView& to, int64_t to_row) {
  const T* source = ElementsAt<T>(from, row);
  std::copy(source, source + count * from.num_elements,
            ElementsAt<T>(to, to_row));
}

template <typename T>
void AddElements(const void* from, int64_t count, void* to) {
  // In vectors, which a loop over pointers that may alias is not.
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  Eigen::Map<Array>(static_cast<T*>(to), count) +=
      Eigen::Map<const Array>(static_cast<const T*>(from), count);
}

absl::Status Reshaped(const tf::Tensor& tensor, const tf::TensorShape& shape,
                      tf::Tensor* reshaped) {
  // `tensor` may be `*reshaped`, which CopyFrom allows.
  if (reshaped->CopyFrom(tensor, shape)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("a tensor of the shape ",
                                          tensor.shape().DebugString(),
                                          " does not have one row"));
}

}  // namespace

int32_t NumRows(const tf::Tensor& rows) {
  return static_cast<int32_t>(rows.dim_size(0));
}

RowView::RowView(const tf::Tensor& rows)
    : data(rows.data()),
      dtype(rows.dtype()),
      rank(rows.dims() - 1),
      is_bytes(tf::DataTypeCanUseMemcpy(dtype)),
      element_size(tf::DataTypeSize(dtype)),
      num_elements(rows.NumElements() / std::max<int64_t>(rows.dim_size(0), 1)),
      num_bytes(num_elements * element_size) {}

tf::Tensor AllocateRows(const tf::Tensor& like, int64_t num_rows) {
  tf::TensorShape shape = like.shape();
  shape.set_dim(0, num_rows);
  return NewTensorOrThrow(like.dtype(), shape);
}

void CopyRows(const RowView& from, int64_t row, int64_t count,
              const RowView& to, int64_t to_row) {
  if (from.is_bytes) {
    std::memcpy(to.At(to_row), from.At(row), count * from.num_bytes);
    return;
  }
  switch (from.dtype) {
    case tf::DT_STRING:
      return CopyElements<tf::tstring>(from, row, count, to, to_row);
    case tf::DT_VARIANT:
      return CopyElements<tf::Variant>(from, row, count, to, to_row);
    case tf::DT_RESOURCE:
      return CopyElements<tf::ResourceHandle>(from, row, count, to, to_row);
    default:
      LOG(FATAL) << "Rows of dtype " << tf::DataTypeString(from.dtype);
  }
}

void CopyToPartOfRow(const RowView& from, int64_t row, const RowView& to,
                     int64_t to_row, int64_t offset) {
  std::memcpy(to.At(to_row, offset), from.At(row), from.num_bytes);
}

void AddPartOfRow(const RowView& from, int64_t row, int64_t offset,
                  const RowView& to, int64_t to_row) {
  AddNumbers(from.dtype, from.At(row, offset), to.num_elements, to.At(to_row));
}

void AddNumbers(tf::DataType dtype, const void* from, int64_t count, void* to) {
  switch (dtype) {
#define RECURSIVE_TF_ADD(T)          \
  case tf::DataTypeToEnum<T>::value: \
    return AddElements<T>(from, count, to);
    TF_CALL_NUMBER_TYPES(RECURSIVE_TF_ADD)
#undef RECURSIVE_TF_ADD
    default:
      LOG(FATAL) << "No gradient has the dtype " << tf::DataTypeString(dtype);
  }
}

void ClearRow(const RowView& rows, int64_t row) {
  std::memset(rows.At(row), 0, rows.num_bytes);
}

bool CanAdd(tf::DataType dtype) {
  switch (dtype) {
#define RECURSIVE_TF_CASE(T) case tf::DataTypeToEnum<T>::value:
    TF_CALL_NUMBER_TYPES(RECURSIVE_TF_CASE)
#undef RECURSIVE_TF_CASE
    return true;
    default:
      return false;
  }
}

absl::Status AsOneRow(const tf::Tensor& tensor, tf::Tensor* row) {
  tf::TensorShape shape = tensor.shape();
  TF_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, 1));
  return Reshaped(tensor, shape, row);
}

absl::Status OnlyRow(const tf::Tensor& rows, tf::Tensor* row) {
  tf::TensorShape shape = rows.shape();
  TF_RETURN_IF_ERROR(shape.RemoveDimWithStatus(0));
  return Reshaped(rows, shape, row);
}

}  // namespace recursive_tf
