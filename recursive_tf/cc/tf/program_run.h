#ifndef RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_
#define RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/first_error.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// One run of a root op, forward or backward: runs procedures for activations on
// TensorFlow's executor, and turns whatever fails first into the one error of
// the root op.
//
// Thread safety: every method may be called from any thread.
class ProgramRun {
 public:
  using Done = std::function<void(const absl::Status& status,
                                  std::vector<tensorflow::Tensor> results)>;

  // `mapped` says how paths are written. The run is cancelled with `parent`,
  // which may be null.
  ProgramRun(const Procedures* procedures,
             std::vector<tensorflow::Tensor> captures, bool mapped,
             tensorflow::CancellationManager* parent);

  // Runs `procedure` for `activation` with `arguments` and then the captures it
  // declares. `done` gets its results, on any thread, perhaps before Call
  // returns. The kernel `ctx` belongs to must not be done before.
  void Call(tensorflow::OpKernelContext* ctx, const Activation& activation,
            int procedure, std::vector<tensorflow::Tensor> arguments,
            Done done);

  // Ends all calls in flight and makes `status` the run's error if it is the
  // first; says where: "SubGraph 'f' failed at f → call#0: ...". Returns it.
  absl::Status Fail(const absl::Status& status, const Activation& activation);

  // Returns the error of the run: the first failure if there was one, else
  // `status`.
  absl::Status Outcome(const absl::Status& status) const;

  // Lets go of the step. The root op calls it last before it is done: the run
  // itself may live until the callbacks that hold it die, which is later.
  // REQUIRES: no call is in flight.
  void Close() { cancellation_.reset(); }

  std::string PathOf(const Activation& activation) const;
  const std::string& NameOf(const Activation& activation) const;

 private:
  // Constant after construction.
  const Procedures* const procedures_;
  const std::vector<tensorflow::Tensor> captures_;
  const bool mapped_;

  std::unique_ptr<tensorflow::CancellationManager> cancellation_;
  FirstError<absl::Status> first_error_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PROGRAM_RUN_H_
