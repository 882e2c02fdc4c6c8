#ifndef RECURSIVE_TF_CC_TF_GRADIENT_ROWS_H_
#define RECURSIVE_TF_CC_TF_GRADIENT_ROWS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/batched_record.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_moves.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// The gradients of a record's values as rows of tensors: RowOps of Adjoints
// (adjoints.h). A team copies and adds.
class GradientRows {
 public:
  using Kept = RowBatch;

  // Both must outlive this.
  GradientRows(const BatchedRecord* record, Team* team);

  // Says that what takes the gradient of a value reads rows where they stand.
  void LetStand(int32_t value);
  // How much was copied and added.
  int64_t bytes_moved() const { return bytes_moved_; }

  // Returns zeros for each row of a value.
  tensorflow::Tensor Zeros(int32_t value) const;

  // --- For Adjoints

  static int64_t NumBytes(const tensorflow::Tensor& tensor);
  static int64_t NumBytes(const RowBatch& rows) { return rows.TotalBytes(); }
  static int32_t NumRows(const tensorflow::Tensor& rows);
  int64_t RowSize(int32_t value) const;
  tensorflow::Tensor Allocate(int32_t value) const;
  static RowView View(const tensorflow::Tensor& rows) { return RowView(rows); }
  static void* At(const RowView& rows, int64_t row, int64_t offset) {
    return rows.At(row, offset);
  }
  void Copy(const void* from, const RowView& to, int64_t to_row) const {
    bytes_moved_ += to.num_bytes;
    moves_.Copy(from, to, to_row);
  }
  void Add(const void* from, const RowView& to, int64_t to_row) const {
    bytes_moved_ += to.num_bytes;
    moves_.Add(from, to, to_row);
  }
  void Finish() const { moves_.Finish(); }
  static void Clear(const RowView& rows, int64_t row) { ClearRow(rows, row); }
  static void Own(tensorflow::Tensor* rows);
  bool CanStand(int32_t value) const { return can_stand_[value]; }
  RowBatch Standing(int32_t value, std::vector<void*> places,
                    std::vector<tensorflow::Tensor> owners) const;

 private:
  // By value.
  const std::vector<Kind>& kinds_;
  std::vector<bool> can_stand_;
  // Adjoints ask for copies of what they do not change.
  mutable RowMoves moves_;
  mutable int64_t bytes_moved_ = 0;
};

// Returns zeros.
tensorflow::Tensor ZerosOf(tensorflow::DataType dtype,
                           const tensorflow::TensorShape& shape);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_GRADIENT_ROWS_H_
