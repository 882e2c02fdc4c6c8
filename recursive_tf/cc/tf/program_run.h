#ifndef RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_
#define RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/first_failure.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

class Call;

// One run of a root op, forward or backward: runs calls on TensorFlow's
// executor, and turns what fails into the one error of the root op.
//
// Which error that is does not depend on timing: a failure ends what comes
// after it in path order, and what comes before goes on, because it may fail
// too. In a program with ops that wait for something, e.g. a queue, a failure
// ends everything at once: such an op may wait for what will never happen.
//
// Thread safety: every method may be called from any thread.
class ProgramRun {
 public:
  // `mapped` says how paths are written. `root` is the context of the root op,
  // which must not be done before the run is closed.
  ProgramRun(const Procedures* procedures,
             std::vector<tensorflow::Tensor> captures, bool mapped,
             tensorflow::OpKernelContext* root);

  // Runs `call`, and ends it, on any thread, perhaps before Start returns.
  void Start(Call* call);

  // Says that `activation` failed with `status`. Returns what its caller is
  // told, which is not an error of its own.
  absl::Status Fail(const absl::Status& status, const Activation& activation);

  // Says that what `activation` runs has ended, and all that it called.
  void Forget(const Activation& activation) { failure_.Forget(activation); }

  // The same, and ends all calls: for what may go on forever.
  absl::Status Stop(const absl::Status& status, const Activation& activation);

  // Returns the error of the run: the failure that is first in path order, or
  // else `status`. It says where: "SubGraph 'f' failed at f → call#0: ...".
  absl::Status Outcome(const absl::Status& status) const;

  // Lets go of the step. The root op calls it last before it is done: the run
  // itself may live until the callbacks that hold it die, which is later.
  // REQUIRES: no call is in flight.
  void Close();

  const Procedures& procedures() const { return *procedures_; }
  const tensorflow::Tensor& capture(int index) const {
    return captures_[index];
  }

 private:
  using Runner = tensorflow::Executor::Args::Runner;

  bool MayRun(const Activation& activation);

  // Constant after construction.
  const Census::One census_{Census::Kind::kRuns};
  const Procedures* const procedures_;
  const std::vector<tensorflow::Tensor> captures_;
  const bool mapped_;
  const Runner* const pool_;
  tensorflow::Executor::Args args_;

  // The second is what kernels see, and what a failing executor cancels. It is
  // a child of the first, so it dies before that.
  std::unique_ptr<tensorflow::CancellationManager> cancellation_;
  std::unique_ptr<tensorflow::CancellationManager> kernel_cancellation_;
  FirstFailure<absl::Status> failure_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_
