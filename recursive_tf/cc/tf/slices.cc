#include "recursive_tf/cc/tf/slices.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/base/row_groups.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

absl::Status Check(const tf::Tensor& values, const tf::Tensor& indices) {
  const bool are_indices =
      indices.dims() == 1 &&
      (indices.dtype() == tf::DT_INT32 || indices.dtype() == tf::DT_INT64);
  if (are_indices && values.dims() > 0 &&
      values.dim_size(0) == indices.dim_size(0) && CanAdd(values.dtype())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "Slices of the dtype ", tf::DataTypeString(values.dtype()),
      " and the shape ", values.shape().DebugString(),
      " do not fit indices of the dtype ", tf::DataTypeString(indices.dtype()),
      " and the shape ", indices.shape().DebugString(), "."));
}

template <typename Index>
absl::Status AddUp(const MakeTensor& make, Team* team, tf::Tensor* values,
                   tf::Tensor* indices) {
  const auto* const rows = static_cast<const Index*>(indices->data());
  const RowGroups groups(rows, static_cast<int32_t>(indices->NumElements()));
  const auto num_groups = static_cast<int64_t>(groups.heads().size());
  if (num_groups == indices->NumElements()) return absl::OkStatus();
  tf::TensorShape shape = values->shape();
  shape.set_dim(0, num_groups);
  tf::Tensor sums;
  TF_RETURN_IF_ERROR(make(values->dtype(), shape, &sums));
  tf::Tensor own;
  TF_RETURN_IF_ERROR(
      make(indices->dtype(), tf::TensorShape({num_groups}), &own));
  const RowView from(*values);
  const RowView to(sums);
  auto* const own_rows = static_cast<Index*>(own.data());
  const auto add_up = [&](int64_t first, int64_t end) {
    for (int64_t group = first; group < end; ++group) {
      const int32_t head = groups.heads()[group];
      own_rows[group] = rows[head];
      CopyRows(from, head, 1, to, group);
      for (int32_t place = groups.next(head); place >= 0;
           place = groups.next(place)) {
        AddPartOfRow(from, place, 0, to, group);
      }
    }
  };
  if (team == nullptr ||
      static_cast<int64_t>(values->TotalBytes()) < kBytesToShare) {
    add_up(0, num_groups);
  } else {
    // Some rows have more slices than others.
    const int64_t num_parts = 4 * team->num_threads();
    team->Run(num_parts, [&](int64_t part) {
      add_up(num_groups * part / num_parts,
             num_groups * (part + 1) / num_parts);
    });
  }
  *values = std::move(sums);
  *indices = std::move(own);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddUpSlices(const MakeTensor& make, Team* team, tf::Tensor* values,
                         tf::Tensor* indices) {
  TF_RETURN_IF_ERROR(Check(*values, *indices));
  return indices->dtype() == tf::DT_INT32
             ? AddUp<int32_t>(make, team, values, indices)
             : AddUp<int64_t>(make, team, values, indices);
}

}  // namespace recursive_tf
