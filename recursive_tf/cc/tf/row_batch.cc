#include "recursive_tf/cc/tf/row_batch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/new_tensor.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "recursive_tf/cc/tf/row_values.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

bool AreAlike(const RowBatch& a, const RowBatch& b) {
  tf::TensorShape shape = a.shape();
  shape.set_dim(0, b.shape().dim_size(0));
  return a.dtype() == b.dtype() && shape == b.shape() &&
         a.PartWidths() == b.PartWidths();
}

// Returns whether rows of all can be read where they are.
bool CanJoin(const std::vector<RowBatch>& batches) {
  return std::all_of(
      batches.begin(), batches.end(), [&](const RowBatch& batch) {
        return CanScatter(batch.dtype()) && batch.shape().dims() > 0 &&
               batch.shape().dim_size(0) > 0 &&
               AreAlike(batches.front(), batch);
      });
}

// Appends rows that are like those of `*joined`.
void Append(RowBatch batch, ScatteredRows* joined) {
  const ScatteredRows* const scattered = batch.scattered();
  if (scattered == nullptr) {
    const tf::Tensor rows = batch.AsTensor();
    AddRows(RowView(rows), 0, rows.dim_size(0), 1, &joined->parts.front().rows);
    joined->owners.push_back(rows);
    return;
  }
  for (size_t i = 0; i < joined->parts.size(); ++i) {
    const ScatteredRows::Part& from = scattered->parts[i];
    ScatteredRows::Part& to = joined->parts[i];
    to.rows.insert(to.rows.end(), from.rows.begin(), from.rows.end());
    to.num_shared += from.num_shared;
  }
  joined->owners.insert(joined->owners.end(), scattered->owners.begin(),
                        scattered->owners.end());
}

// Copies the rows from `first` to before `end`, part by part.
void CopyParts(const ScatteredRows& scattered, int64_t first, int64_t end,
               const RowView& to) {
  int64_t offset = 0;
  for (const ScatteredRows::Part& part : scattered.parts) {
    const int64_t num_bytes = part.width * to.element_size;
    for (int64_t i = first; i < end; ++i) {
      std::memcpy(to.At(i, offset), part.rows[i], num_bytes);
    }
    offset += part.width;
  }
}

}  // namespace

std::vector<int64_t> RowBatch::PartWidths() const {
  std::vector<int64_t> widths;
  if (scattered_ == nullptr || scattered_->parts.size() == 1) return widths;
  widths.reserve(scattered_->parts.size());
  for (const ScatteredRows::Part& part : scattered_->parts) {
    widths.push_back(part.width);
  }
  return widths;
}

bool RowBatch::HasPartWidths(const std::vector<int64_t>& widths) const {
  if (scattered_ == nullptr || scattered_->parts.size() == 1) {
    return widths.empty();
  }
  return std::equal(scattered_->parts.begin(), scattered_->parts.end(),
                    widths.begin(), widths.end(),
                    [](const ScatteredRows::Part& part, int64_t width) {
                      return part.width == width;
                    });
}

tf::Tensor RowBatch::AsTensor(Team* team) const {
  if (scattered_ == nullptr) return rows_;
  tf::Tensor gathered = NewTensorOrThrow(scattered_->dtype, scattered_->shape);
  const RowView to(gathered);
  const int64_t num_rows = shape().dim_size(0);
  if (team == nullptr || TotalBytes() < kBytesToShare) {
    CopyParts(*scattered_, 0, num_rows, to);
    return gathered;
  }
  const int64_t num_threads = team->num_threads();
  team->Run(num_threads, [&](int64_t thread) {
    CopyParts(*scattered_, num_rows * thread / num_threads,
              num_rows * (thread + 1) / num_threads, to);
  });
  return gathered;
}

absl::Status JoinBatches(std::vector<RowBatch> batches, RowBatch* joined) {
  if (batches.size() == 1) {
    *joined = std::move(batches.front());
    return absl::OkStatus();
  }
  if (!CanJoin(batches)) {
    std::vector<tf::Tensor> parts;
    parts.reserve(batches.size());
    for (RowBatch& batch : batches) {
      parts.push_back(std::exchange(batch, RowBatch()).AsTensor());
    }
    tf::Tensor rows;
    const absl::Status status = JoinRows(parts, &rows);
    *joined = RowBatch(std::move(rows));
    return status;
  }
  ScatteredRows all;
  all.dtype = batches.front().dtype();
  all.shape = batches.front().shape();
  std::vector<int64_t> widths = batches.front().PartWidths();
  if (widths.empty()) {
    widths = {all.shape.num_elements() / all.shape.dim_size(0)};
  }
  int64_t num_rows = 0;
  for (const RowBatch& batch : batches) num_rows += batch.shape().dim_size(0);
  all.shape.set_dim(0, num_rows);
  for (const int64_t width : widths) {
    all.parts.push_back({width, {}});
    all.parts.back().rows.reserve(num_rows);
  }
  for (RowBatch& batch : batches) Append(std::move(batch), &all);
  *joined = RowBatch(std::move(all));
  return absl::OkStatus();
}

tf::Tensor TakeRows(const RowBatch& batch, const PooledVector<int32_t>& rows) {
  const tf::Tensor from = batch.AsTensor();
  tf::Tensor taken = AllocateRows(from, static_cast<int64_t>(rows.size()));
  const RowView view(from);
  const RowView to(taken);
  int64_t to_row = 0;
  for (const int32_t row : rows) CopyRows(view, row, 1, to, to_row++);
  return taken;
}

std::vector<RowBatch> AsBatches(std::vector<tf::Tensor> tensors) {
  return {std::make_move_iterator(tensors.begin()),
          std::make_move_iterator(tensors.end())};
}

bool CanScatter(tf::DataType dtype) {
  return dtype == tf::DT_FLOAT || dtype == tf::DT_DOUBLE;
}

void AddRows(const RowView& rows, int64_t first, int64_t count, int64_t stride,
             std::vector<void*>* to) {
  for (int64_t i = 0; i < count; ++i) {
    to->push_back(rows.At(first + i * stride));
  }
}

}  // namespace recursive_tf
