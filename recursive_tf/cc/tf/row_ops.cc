#include "recursive_tf/cc/tf/row_ops.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/log/check.h"
#include "absl/log/log.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/platform/tstring.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

int64_t ElementsOfARow(const tf::Tensor& rows) {
  return rows.NumElements() / std::max<int64_t>(rows.dim_size(0), 1);
}

char* BytesOf(const tf::Tensor& tensor) {
  return static_cast<char*>(tensor.data());
}

template <typename T>
void CopyElements(const tf::Tensor& from, int64_t start, int64_t count,
                  int64_t to_start, tf::Tensor* to) {
  const T* source = from.flat<T>().data() + start;
  std::copy(source, source + count, to->flat<T>().data() + to_start);
}

template <typename T>
void AddElements(const tf::Tensor& from, int64_t start, int64_t count,
                 int64_t to_start, tf::Tensor* to) {
  const T* source = from.flat<T>().data() + start;
  T* target = to->flat<T>().data() + to_start;
  for (int64_t i = 0; i < count; ++i) target[i] += source[i];
}

}  // namespace

int32_t NumRows(const tf::Tensor& rows) {
  return static_cast<int32_t>(rows.dim_size(0));
}

int64_t BytesOfARow(const tf::Tensor& rows) {
  return ElementsOfARow(rows) * tf::DataTypeSize(rows.dtype());
}

tf::Tensor AllocateRows(const tf::Tensor& like, int64_t num_rows) {
  tf::TensorShape shape = like.shape();
  shape.set_dim(0, num_rows);
  return tf::Tensor(like.dtype(), shape);
}

void CopyRows(const tf::Tensor& from, int64_t row, int64_t count,
              int64_t to_row, tf::Tensor* to) {
  const int64_t size = ElementsOfARow(from);
  if (tf::DataTypeCanUseMemcpy(from.dtype())) {
    const int64_t bytes = size * tf::DataTypeSize(from.dtype());
    std::memcpy(BytesOf(*to) + to_row * bytes, BytesOf(from) + row * bytes,
                count * bytes);
    return;
  }
  switch (from.dtype()) {
    case tf::DT_STRING:
      return CopyElements<tf::tstring>(from, row * size, count * size,
                                       to_row * size, to);
    case tf::DT_VARIANT:
      return CopyElements<tf::Variant>(from, row * size, count * size,
                                       to_row * size, to);
    case tf::DT_RESOURCE:
      return CopyElements<tf::ResourceHandle>(from, row * size, count * size,
                                              to_row * size, to);
    default:
      LOG(FATAL) << "Rows of dtype " << tf::DataTypeString(from.dtype());
  }
}

void CopyToPartOfRows(const tf::Tensor& from, int64_t row, int64_t to_row,
                      int64_t offset, tf::Tensor* to) {
  const int64_t element = tf::DataTypeSize(from.dtype());
  const int64_t bytes = ElementsOfARow(from) * element;
  std::memcpy(BytesOf(*to) + (to_row * ElementsOfARow(*to) + offset) * element,
              BytesOf(from) + row * bytes, bytes);
}

void CopyPartOfRow(const tf::Tensor& from, int64_t row, int64_t offset,
                   int64_t to_row, tf::Tensor* to) {
  const int64_t element = tf::DataTypeSize(from.dtype());
  const int64_t bytes = ElementsOfARow(*to) * element;
  std::memcpy(BytesOf(*to) + to_row * bytes,
              BytesOf(from) + (row * ElementsOfARow(from) + offset) * element,
              bytes);
}

void AddPartOfRow(const tf::Tensor& from, int64_t row, int64_t offset,
                  int64_t to_row, tf::Tensor* to) {
  const int64_t size = ElementsOfARow(*to);
  const int64_t start = row * ElementsOfARow(from) + offset;
  switch (from.dtype()) {
#define RECURSIVE_TF_ADD(T)          \
  case tf::DataTypeToEnum<T>::value: \
    return AddElements<T>(from, start, size, to_row * size, to);
    TF_CALL_NUMBER_TYPES(RECURSIVE_TF_ADD)
#undef RECURSIVE_TF_ADD
    default:
      LOG(FATAL) << "No gradient has the dtype "
                 << tf::DataTypeString(from.dtype());
  }
}

void ClearRow(int64_t row, tf::Tensor* rows) {
  const int64_t bytes = ElementsOfARow(*rows) * tf::DataTypeSize(rows->dtype());
  std::memset(BytesOf(*rows) + row * bytes, 0, bytes);
}

tf::Tensor AsOneRow(const tf::Tensor& tensor) {
  tf::TensorShape shape = tensor.shape();
  shape.InsertDim(0, 1);
  tf::Tensor row;
  CHECK(row.CopyFrom(tensor, shape));
  return row;
}

tf::Tensor OnlyRow(const tf::Tensor& rows) {
  tf::TensorShape shape = rows.shape();
  shape.RemoveDim(0);
  tf::Tensor row;
  CHECK(row.CopyFrom(rows, shape));
  return row;
}

}  // namespace recursive_tf
