#ifndef RECURSIVE_TF_CC_TF_ROW_BATCH_H_
#define RECURSIVE_TF_CC_TF_ROW_BATCH_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Rows where they stand, in any tensors, for whoever reads rows by their
// addresses.
struct ScatteredRows {
  // Some columns of all rows: where they begin in each of them.
  struct Part {
    int64_t width = 0;
    std::vector<void*> rows;
    // How many are of values whose rows are shared: some may be one, at one
    // address.
    int64_t num_shared = 0;
  };

  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
  // With the number of rows in front.
  tensorflow::TensorShape shape;
  // From the left to the right.
  absl::InlinedVector<Part, 2> parts;
  // What keeps the rows' memory; none where somebody else does.
  std::vector<tensorflow::Tensor> owners;
};

// Rows that a block takes: a tensor of them, or rows that stand scattered and
// become a tensor for those who need one.
//
// Thread safety: immutable.
class RowBatch {
 public:
  RowBatch() = default;
  // A tensor is a batch of its rows.
  RowBatch(tensorflow::Tensor rows)  // NOLINT(google-explicit-constructor)
      : rows_(std::move(rows)) {}
  explicit RowBatch(ScatteredRows scattered)
      : scattered_(
            std::make_shared<const ScatteredRows>(std::move(scattered))) {}

  tensorflow::DataType dtype() const {
    return scattered_ != nullptr ? scattered_->dtype : rows_.dtype();
  }
  // With the number of rows in front.
  const tensorflow::TensorShape& shape() const {
    return scattered_ != nullptr ? scattered_->shape : rows_.shape();
  }
  // Of all rows, wherever they are.
  int64_t TotalBytes() const {
    return shape().num_elements() * tensorflow::DataTypeSize(dtype());
  }
  // Of all rows, if they stand scattered: what AsTensor copies.
  int64_t ScatteredBytes() const {
    return scattered_ == nullptr ? 0 : TotalBytes();
  }

  // Returns the widths of parts; none if rows are whole.
  std::vector<int64_t> PartWidths() const;
  // Returns whether PartWidths are these.
  bool HasPartWidths(const std::vector<int64_t>& widths) const;

  // Null if there is a tensor.
  const ScatteredRows* scattered() const { return scattered_.get(); }

  // Returns the rows as a tensor, which is made if there is none; by a team, if
  // one is given.
  tensorflow::Tensor AsTensor(Team* team = nullptr) const;

 private:
  tensorflow::Tensor rows_;
  std::shared_ptr<const ScatteredRows> scattered_;
};

// Sets `*joined` to the rows of all `batches`, of which there is one at least,
// where they stand if they can be read there.
absl::Status JoinBatches(std::vector<RowBatch> batches, RowBatch* joined);

// Returns some rows of a batch, one behind the other.
// REQUIRES: a batch that is a tensor.
tensorflow::Tensor TakeRows(const RowBatch& batch,
                            const PooledVector<int32_t>& rows);

// Returns each tensor as a batch.
std::vector<RowBatch> AsBatches(std::vector<tensorflow::Tensor> tensors);

// Returns whether rows of a dtype may be scattered.
bool CanScatter(tensorflow::DataType dtype);

// Appends where rows of a tensor begin: `count` of them, one behind the other
// or, with a `stride` of 0, the same again and again.
void AddRows(const RowView& rows, int64_t first, int64_t count, int64_t stride,
             std::vector<void*>* to);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_BATCH_H_
