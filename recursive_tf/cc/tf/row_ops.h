#ifndef RECURSIVE_TF_CC_TF_ROW_OPS_H_
#define RECURSIVE_TF_CC_TF_ROW_OPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Tensors as rows: the first dimension counts them. No bounds are checked.

int32_t NumRows(const tensorflow::Tensor& rows);

// From so many bytes on it is worth it that threads share copies or sums: these
// take some microseconds.
constexpr int64_t kBytesToShare = int64_t{64} * 1024;

// Where the rows of a tensor are: found once for many rows, because asking a
// tensor costs as much as copying one.
struct RowView {
  explicit RowView(const tensorflow::Tensor& rows);

  // Returns where element `offset` of a row is.
  void* At(int64_t row, int64_t offset = 0) const {
    return static_cast<char*>(data) + row * num_bytes + offset * element_size;
  }

  void* data;
  tensorflow::DataType dtype;
  // The rank of a row.
  int rank;
  // Whether elements are copied as bytes.
  bool is_bytes;
  int64_t element_size;
  // Of one row.
  int64_t num_elements;
  int64_t num_bytes;
};

// Returns a tensor of `num_rows` rows like those of `like`, not set.
tensorflow::Tensor AllocateRows(const tensorflow::Tensor& like,
                                int64_t num_rows);

// Copies `count` rows from `row` on.
void CopyRows(const RowView& from, int64_t row, int64_t count,
              const RowView& to, int64_t to_row);

// Copies a row to a part of a row: to where element `offset` is.
// REQUIRES: a dtype that is copied as bytes.
void CopyToPartOfRow(const RowView& from, int64_t row, const RowView& to,
                     int64_t to_row, int64_t offset);

// Adds a part of a row, from element `offset` on, to a row of `to`.
// REQUIRES: the same dtype in both, one that CanAdd.
void AddPartOfRow(const RowView& from, int64_t row, int64_t offset,
                  const RowView& to, int64_t to_row);

// Adds `count` numbers of a dtype that CanAdd to others.
void AddNumbers(tensorflow::DataType dtype, const void* from, int64_t count,
                void* to);

// Sets a row to zeros. REQUIRES: a dtype that is copied as bytes.
void ClearRow(const RowView& rows, int64_t row);

// Returns whether AddPartOfRow adds elements of a dtype.
bool CanAdd(tensorflow::DataType dtype);

// Sets `*row` to `tensor` as one row, which may be the same.
absl::Status AsOneRow(const tensorflow::Tensor& tensor,
                      tensorflow::Tensor* row);

// Sets `*row` to the one row of `rows`.
absl::Status OnlyRow(const tensorflow::Tensor& rows, tensorflow::Tensor* row);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_OPS_H_
