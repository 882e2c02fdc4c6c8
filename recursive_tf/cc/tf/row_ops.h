#ifndef RECURSIVE_TF_CC_TF_ROW_OPS_H_
#define RECURSIVE_TF_CC_TF_ROW_OPS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// Tensors as rows: the first dimension counts them. No bounds are checked.

int32_t NumRows(const tensorflow::Tensor& rows);

int64_t BytesOfARow(const tensorflow::Tensor& rows);

// Returns a tensor of `num_rows` rows like those of `like`, not set.
tensorflow::Tensor AllocateRows(const tensorflow::Tensor& like,
                                int64_t num_rows);

// Copies `count` rows from `row` on.
void CopyRows(const tensorflow::Tensor& from, int64_t row, int64_t count,
              int64_t to_row, tensorflow::Tensor* to);

// Copies rows, from `row` on, to a part of rows: to where element `offset` is.
// REQUIRES: a dtype that is copied as bytes.
void CopyToPartOfRows(const tensorflow::Tensor& from, int64_t row,
                      int64_t to_row, int64_t offset, tensorflow::Tensor* to);

// Copies a part of a row, from element `offset` on, to a row of `to`, or adds
// it. REQUIRES: a numeric dtype.
void CopyPartOfRow(const tensorflow::Tensor& from, int64_t row, int64_t offset,
                   int64_t to_row, tensorflow::Tensor* to);
void AddPartOfRow(const tensorflow::Tensor& from, int64_t row, int64_t offset,
                  int64_t to_row, tensorflow::Tensor* to);

// Sets a row to zeros. REQUIRES: a dtype that is copied as bytes.
void ClearRow(int64_t row, tensorflow::Tensor* rows);

// Returns `tensor` as one row.
tensorflow::Tensor AsOneRow(const tensorflow::Tensor& tensor);

// Returns the one row of `rows`.
tensorflow::Tensor OnlyRow(const tensorflow::Tensor& rows);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_OPS_H_
