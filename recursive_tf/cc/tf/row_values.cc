#include "recursive_tf/cc/tf/row_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Sets `*view` to rows that stand side by side, if they do and if kernels may
// read them where they are.
bool View(const tf::Tensor& value, const Rows& rows, tf::Tensor* view) {
  if (rows.runs().size() != 1) return false;
  const RowRun& run = rows.runs().front();
  if (run.stride != 1 && run.num_rows != 1) return false;
  if (run.num_rows == value.dim_size(0)) {
    *view = value;
    return true;
  }
  *view = value.Slice(run.first_row, run.first_row + run.num_rows);
  return view->IsAligned();
}

bool HaveSameRows(const RowView& a, const RowView& b) {
  return a.dtype == b.dtype && a.num_bytes == b.num_bytes;
}

// Blocks are compiled for static shapes, so this tells of an op that does not
// keep to its own.
absl::Status UnlikeRows(const tf::Tensor& a, const tf::Tensor& b) {
  return absl::InternalError(
      absl::StrCat("rows of the shapes ", a.shape().DebugString(), " and ",
                   b.shape().DebugString(), " were to be one batch"));
}

}  // namespace

void RowValues::Add(tf::Tensor rows, bool are_shared) {
  bytes_alive_ += static_cast<int64_t>(rows.TotalBytes());
  AddBorrowed(std::move(rows), are_shared);
}

void RowValues::AddBorrowed(tf::Tensor rows, bool are_shared) {
  views_.emplace_back(rows);
  are_shared_.push_back(are_shared);
  values_.push_back(std::move(rows));
}

void RowValues::Drop(int32_t value) {
  bytes_alive_ -= static_cast<int64_t>(values_[value].TotalBytes());
  values_[value] = tf::Tensor();
}

absl::Status RowValues::Gather(const Rows& rows, tf::Tensor* gathered) {
  const tf::Tensor& first = values_[rows.runs().front().value];
  if (View(first, rows, gathered)) return absl::OkStatus();
  *gathered = AllocateRows(first, rows.num_rows());
  const RowView to(*gathered);
  int64_t to_row = 0;
  for (const RowRun& run : rows.runs()) {
    const RowView& from = views_[run.value];
    if (!HaveSameRows(from, to)) {
      return UnlikeRows(first, values_[run.value]);
    }
    if (run.stride == 1) {
      CopyRows(from, run.first_row, run.num_rows, to, to_row);
      to_row += run.num_rows;
      continue;
    }
    for (int32_t i = 0; i < run.num_rows; ++i) {
      CopyRows(from, run.first_row, 1, to, to_row++);
    }
  }
  bytes_moved_ += static_cast<int64_t>(gathered->TotalBytes());
  return absl::OkStatus();
}

absl::Status RowValues::ShapeOf(const JoinedRows& joined,
                                tf::TensorShape* shape,
                                tf::DataType* dtype) const {
  const tf::Tensor& first = values_[joined.front().runs().front().value];
  *shape = first.shape();
  shape->set_dim(0, joined.front().num_rows());
  *dtype = first.dtype();
  int64_t length = 0;
  for (const Rows& rows : joined) {
    const int32_t number = rows.runs().front().value;
    const tf::Tensor& value = values_[number];
    for (const RowRun& run : rows.runs()) {
      if (!HaveSameRows(views_[number], views_[run.value])) {
        return UnlikeRows(value, values_[run.value]);
      }
    }
    if (joined.size() == 1) return absl::OkStatus();
    const bool fits = value.dtype() == *dtype && value.dims() > 1 &&
                      value.dims() == shape->dims() &&
                      tf::DataTypeCanUseMemcpy(*dtype);
    if (!fits) return UnlikeRows(first, value);
    length += value.dim_size(1);
  }
  shape->set_dim(1, length);
  return absl::OkStatus();
}

absl::Status RowValues::Gather(const JoinedRows& joined, tf::Tensor* gathered) {
  if (joined.size() == 1) return Gather(joined.front(), gathered);
  tf::TensorShape shape;
  tf::DataType dtype;
  TF_RETURN_IF_ERROR(ShapeOf(joined, &shape, &dtype));
  *gathered = NewTensorOrThrow(dtype, shape);
  const RowView to(*gathered);
  int64_t offset = 0;
  for (const Rows& rows : joined) {
    int64_t to_row = 0;
    for (const RowRun& run : rows.runs()) {
      const RowView& from = views_[run.value];
      for (int32_t i = 0; i < run.num_rows; ++i) {
        CopyToPartOfRow(from, run.first_row + i * run.stride, to, to_row++,
                        offset);
      }
    }
    offset += views_[rows.runs().front().value].num_elements;
  }
  bytes_moved_ += static_cast<int64_t>(gathered->TotalBytes());
  return absl::OkStatus();
}

absl::Status RowValues::Collect(const JoinedRows& joined, bool holds,
                                RowBatch* batch) {
  const tf::Tensor& first = values_[joined.front().runs().front().value];
  tf::Tensor rows;
  const bool stand_together =
      joined.size() == 1 && View(first, joined.front(), &rows);
  const bool can_scatter = CanScatter(first.dtype()) && first.NumElements() > 0;
  if (stand_together || !can_scatter) {
    if (!stand_together) TF_RETURN_IF_ERROR(Gather(joined, &rows));
    *batch = RowBatch(std::move(rows));
    return absl::OkStatus();
  }
  ScatteredRows scattered;
  TF_RETURN_IF_ERROR(ShapeOf(joined, &scattered.shape, &scattered.dtype));
  scattered.parts.reserve(joined.size());
  for (const Rows& each : joined) {
    ScatteredRows::Part& part = scattered.parts.emplace_back();
    part.width = views_[each.runs().front().value].num_elements;
    part.rows.reserve(each.num_rows());
    for (const RowRun& run : each.runs()) {
      part.num_shared += are_shared_[run.value] ? run.num_rows : 0;
      AddRows(views_[run.value], run.first_row, run.num_rows, run.stride,
              &part.rows);
    }
  }
  if (holds) AddOwners(joined, &scattered.owners);
  *batch = RowBatch(std::move(scattered));
  return absl::OkStatus();
}

void RowValues::AddOwners(const JoinedRows& joined,
                          std::vector<tf::Tensor>* owners) const {
  size_t num_runs = 0;
  for (const Rows& rows : joined) num_runs += rows.runs().size();
  std::vector<int32_t> values;
  values.reserve(num_runs);
  for (const Rows& rows : joined) {
    for (const RowRun& run : rows.runs()) values.push_back(run.value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  owners->reserve(values.size());
  for (const int32_t value : values) owners->push_back(values_[value]);
}

absl::Status JoinRows(const std::vector<tf::Tensor>& parts,
                      tf::Tensor* joined) {
  if (parts.size() == 1) {
    *joined = parts.front();
    return absl::OkStatus();
  }
  for (const tf::Tensor& part : parts) {
    if (part.dims() == 0) return UnlikeRows(parts.front(), part);
  }
  // Where there are no rows, e.g. no items of lists, a row has no size.
  const auto first =
      std::find_if(parts.begin(), parts.end(),
                   [](const tf::Tensor& part) { return part.dim_size(0) > 0; });
  if (first == parts.end()) {
    *joined = parts.front();
    return absl::OkStatus();
  }
  int64_t num_rows = 0;
  for (const tf::Tensor& part : parts) {
    if (part.dim_size(0) > 0 && !HaveSameRows(RowView(*first), RowView(part))) {
      return UnlikeRows(*first, part);
    }
    num_rows += part.dim_size(0);
  }
  *joined = AllocateRows(*first, num_rows);
  int64_t to_row = 0;
  for (const tf::Tensor& part : parts) {
    CopyRows(RowView(part), 0, part.dim_size(0), RowView(*joined), to_row);
    to_row += part.dim_size(0);
  }
  return absl::OkStatus();
}

}  // namespace recursive_tf
