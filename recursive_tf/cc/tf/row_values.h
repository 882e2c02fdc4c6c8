#ifndef RECURSIVE_TF_CC_TF_ROW_VALUES_H_
#define RECURSIVE_TF_CC_TF_ROW_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// The values of one run, by number: tensors with rows in front.
class RowValues {
 public:
  // Adds one; many may read each of its rows if these are shared.
  void Add(tensorflow::Tensor rows, bool are_shared = false);
  // The same for one whose memory somebody else holds as long as this lives.
  void AddBorrowed(tensorflow::Tensor rows, bool are_shared = false);
  // Forgets a value that nobody reads any more. REQUIRES: it is not borrowed.
  void Drop(int32_t value);

  const tensorflow::Tensor& operator[](int32_t value) const {
    return values_[value];
  }

  const RowView& view(int32_t value) const { return views_[value]; }

  int32_t size() const { return static_cast<int32_t>(values_.size()); }

  // Sets `*gathered` to `rows`, one after the other. Rows that stand like that
  // already are not copied.
  // REQUIRES: there are rows.
  absl::Status Gather(const Rows& rows, tensorflow::Tensor* gathered);

  // The same for rows that are joined: along the first dimension that a row
  // has.
  absl::Status Gather(const JoinedRows& joined, tensorflow::Tensor* gathered);

  // Sets `*batch` to joined rows where they stand, if they can be read there;
  // if `holds`, also when the values are dropped.
  absl::Status Collect(const JoinedRows& joined, bool holds, RowBatch* batch);

  int64_t bytes_alive() const { return bytes_alive_; }
  int64_t bytes_moved() const { return bytes_moved_; }

 private:
  absl::Status ShapeOf(const JoinedRows& joined, tensorflow::TensorShape* shape,
                       tensorflow::DataType* dtype) const;
  // Appends the values that rows are of, each once.
  void AddOwners(const JoinedRows& joined,
                 std::vector<tensorflow::Tensor>* owners) const;

  std::vector<tensorflow::Tensor> values_;
  // Of all values, also dropped ones.
  std::vector<RowView> views_;
  std::vector<bool> are_shared_;
  int64_t bytes_alive_ = 0;
  int64_t bytes_moved_ = 0;
};

// Sets `*joined` to the rows of all `parts`, of which there is one at least.
absl::Status JoinRows(const std::vector<tensorflow::Tensor>& parts,
                      tensorflow::Tensor* joined);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_VALUES_H_
