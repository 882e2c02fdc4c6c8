#ifndef RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_
#define RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// The invocations of one root call, one a row, and what came of them.
//
// Thread safety: End may be called from any thread; the rest before the first
// Call or after the last End.
class RowResults {
 public:
  explicit RowResults(size_t num_rows)
      : results_(num_rows), statuses_(num_rows), num_pending_(num_rows) {}

  // Returns true for the row that ends last.
  [[nodiscard]] bool End(size_t row, const absl::Status& status,
                         std::vector<tensorflow::Tensor> results) {
    statuses_[row] = status;
    results_[row] = std::move(results);
    return num_pending_.fetch_sub(1) == 1;
  }

  size_t num_rows() const { return results_.size(); }

  // Returns the first row's error, if any.
  absl::Status status() const;

  // Returns result `index` of every row.
  std::vector<tensorflow::Tensor> Column(size_t index) const;

 private:
  std::vector<std::vector<tensorflow::Tensor>> results_;
  std::vector<absl::Status> statuses_;
  std::atomic<size_t> num_pending_;
};

// What the two root ops, forward and backward, have in common: the program's
// procedures, instantiated at the first call and released with the kernel.
class RootKernel : public tensorflow::AsyncOpKernel {
 public:
  explicit RootKernel(tensorflow::OpKernelConstruction* ctx);

 protected:
  absl::Status GetProcedures(tensorflow::OpKernelContext* ctx,
                             const Procedures** procedures);

  // Returns `done`, which also ends an event that starts now, if that is
  // recorded.
  DoneCallback Traced(const char* category, int64_t num_rows,
                      DoneCallback done) const;

  bool mapped() const { return mapped_; }

  // Sets the output list `name` from the rows' results: what the one invocation
  // gave, or the stacked rows where the call is mapped.
  // REQUIRES: there are rows.
  absl::Status SetOutputsFromRows(tensorflow::OpKernelContext* ctx,
                                  const char* name,
                                  const RowResults& rows) const;

 private:
  ProgramSpec spec_;
  bool mapped_ = false;

  Mutex mu_;
  std::unique_ptr<Procedures> procedures_ ABSL_GUARDED_BY(mu_);
};

// Returns the tensors of the input list `name`.
absl::Status InputList(tensorflow::OpKernelContext* ctx, const char* name,
                       std::vector<tensorflow::Tensor>* tensors);

// Sets `*rows` to the arguments of each invocation: one invocation with all of
// `arguments`, or, where the call is `mapped`, one for each of their rows.
absl::Status SplitRows(std::vector<tensorflow::Tensor> arguments, bool mapped,
                       std::vector<std::vector<tensorflow::Tensor>>* rows);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_
