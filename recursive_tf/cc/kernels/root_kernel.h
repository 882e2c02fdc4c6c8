#ifndef RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_
#define RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "recursive_tf/cc/base/mutex.h"
#include "recursive_tf/cc/kernels/row_results.h"
#include "recursive_tf/cc/tf/bind_program.h"
#include "recursive_tf/cc/tf/out_of_memory.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace recursive_tf {

// What the two root ops, forward and backward, have in common: the program's
// procedures, instantiated at the first call and released with the kernel.
//
// Thread safety: every method may be called from any thread.
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

  // Returns what is told if the root op itself fails, and no call.
  absl::Status OfRoot(const absl::Status& status) const {
    return OfSubGraph(status, subgraph());
  }

  const std::string& subgraph() const { return spec_.names->front(); }
  bool mapped() const { return mapped_; }

  // What the op takes and returns: set while it is constructed.
  RootTypes types_;

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

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_KERNELS_ROOT_KERNEL_H_
