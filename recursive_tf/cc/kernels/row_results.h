#ifndef RECURSIVE_TF_CC_KERNELS_ROW_RESULTS_H_
#define RECURSIVE_TF_CC_KERNELS_ROW_RESULTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/call.h"
#include "recursive_tf/cc/tf/call_statuses.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// The invocations of one map, or of a root call, one a row, and what came of
// them.
//
// Thread safety: End may be called from any thread; the rest before the first
// Call or after the last End.
class RowResults {
 public:
  explicit RowResults(size_t num_rows)
      : results_(num_rows), statuses_(num_rows) {}

  // Returns true for the row that ends last.
  [[nodiscard]] bool End(size_t row, const absl::Status& status,
                         std::vector<tensorflow::Tensor> results) {
    results_[row] = std::move(results);
    return statuses_.End(row, status);
  }

  size_t num_rows() const { return results_.size(); }

  // Returns the first row's error, if any.
  absl::Status status() const { return statuses_.First(); }

  // Returns an error unless every row has so many results.
  absl::Status CheckCount(int count) const;

  const tensorflow::Tensor& At(size_t row, size_t index) const {
    return results_[row][index];
  }

  // Returns result `index` of every row.
  std::vector<tensorflow::Tensor> Column(size_t index) const;

 private:
  std::vector<std::vector<tensorflow::Tensor>> results_;
  CallStatuses statuses_;
};

// Returns who is told what came of each of `num_rows` calls. When all have
// ended, `end_all` is called, on the thread of the last one.
// REQUIRES: there are rows.
using EndAll = std::function<void(const std::shared_ptr<const RowResults>&)>;
RowCall::Done EndRows(size_t num_rows, EndAll end_all);

// Returns the tensors of the input list `name`.
absl::Status InputList(tensorflow::OpKernelContext* ctx, const char* name,
                       std::vector<tensorflow::Tensor>* tensors);

// Sets `*rows` to the arguments of each invocation: one invocation with all of
// `arguments`, or, where the call is `mapped`, one for each of their rows.
absl::Status SplitRows(std::vector<tensorflow::Tensor> arguments, bool mapped,
                       std::vector<std::vector<tensorflow::Tensor>>* rows);

// Sets the output list `name` to the stacked results of all rows. `subgraph`
// names whose outputs they are.
// REQUIRES: there are rows.
absl::Status StackOutputs(tensorflow::OpKernelContext* ctx, const char* name,
                          const RowResults& rows, const std::string& subgraph);

// Sets the output list "input_gradients" of a map over no rows, which got
// `arguments`. The gradient of no rows is no rows; those of the last
// `num_shared` outputs are sums of nothing.
absl::Status SetGradientsOfNoRows(
    tensorflow::OpKernelContext* ctx,
    const std::vector<tensorflow::Tensor>& arguments, int num_shared);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_ROW_RESULTS_H_
