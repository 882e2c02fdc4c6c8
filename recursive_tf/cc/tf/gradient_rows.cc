#include "recursive_tf/cc/tf/gradient_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

GradientRows::GradientRows(const BatchedRecord* record, Team* team)
    : kinds_(record->values),
      can_stand_(record->values.size(), false),
      moves_(team) {}

void GradientRows::LetStand(int32_t value) {
  can_stand_[value] = CanScatter(kinds_[value].dtype) && RowSize(value) > 0;
}

tf::Tensor GradientRows::Zeros(int32_t value) const {
  return ZerosOf(kinds_[value].dtype, kinds_[value].shape);
}

int64_t GradientRows::NumBytes(const tf::Tensor& tensor) {
  return static_cast<int64_t>(tensor.TotalBytes());
}

int32_t GradientRows::NumRows(const tf::Tensor& rows) {
  return recursive_tf::NumRows(rows);
}

int64_t GradientRows::RowSize(int32_t value) const {
  const tf::TensorShape& shape = kinds_[value].shape;
  return shape.num_elements() / std::max<int64_t>(shape.dim_size(0), 1);
}

tf::Tensor GradientRows::Allocate(int32_t value) const {
  return NewTensorOrThrow(kinds_[value].dtype, kinds_[value].shape);
}

void GradientRows::Own(tf::Tensor* rows) {
  if (rows->RefCountIsOne()) return;
  tf::Tensor own = AllocateRows(*rows, rows->dim_size(0));
  CopyRows(RowView(*rows), 0, rows->dim_size(0), RowView(own), 0);
  *rows = std::move(own);
}

RowBatch GradientRows::Standing(int32_t value, std::vector<void*> places,
                                std::vector<tf::Tensor> owners) const {
  const Kind& kind = kinds_[value];
  ScatteredRows rows;
  rows.dtype = kind.dtype;
  rows.shape = kind.shape;
  rows.owners = std::move(owners);
  const auto is_nowhere = [](const void* place) { return place == nullptr; };
  if (std::any_of(places.begin(), places.end(), is_nowhere)) {
    tf::TensorShape one = kind.shape;
    one.set_dim(0, 1);
    rows.owners.push_back(ZerosOf(kind.dtype, one));
    std::replace_if(places.begin(), places.end(), is_nowhere,
                    rows.owners.back().data());
  }
  rows.parts.push_back({RowSize(value), std::move(places)});
  return RowBatch(std::move(rows));
}

tf::Tensor ZerosOf(tf::DataType dtype, const tf::TensorShape& shape) {
  tf::Tensor zeros = NewTensorOrThrow(dtype, shape);
  // Tensors of other types are made empty.
  if (tf::DataTypeCanUseMemcpy(dtype) && zeros.TotalBytes() > 0) {
    std::memset(zeros.data(), 0, zeros.TotalBytes());
  }
  return zeros;
}

}  // namespace recursive_tf
