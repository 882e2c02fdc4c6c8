#ifndef RECURSIVE_TF_CC_TF_CALL_H_
#define RECURSIVE_TF_CC_TF_CALL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/base/census.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/tf/deep_frame.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "recursive_tf/cc/tf/program_run.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// One invocation while it runs: where a body's executor takes its arguments
// from and puts its results. A procedure takes a handle of the activation, then
// its own arguments, then the captures that it declares. A call is made with
// `new`, is handed to ProgramRun::Start, and deletes itself in End.
//
// Thread safety: as TensorFlow uses it: arguments are read and results written
// from any thread, each result once; End comes after all of these.
class Call : public DeepFrame {
 public:
  // What `activation` runs is called. It is left at the end if it is in `tree`,
  // which is null for a gradient: that runs for activations that are kept.
  Call(ProgramRun* run, const Activation* activation, ActivationTree* tree,
       tensorflow::Tensor handle);

  // Gives what has become of the call to whoever made it, and deletes it.
  virtual void End(const absl::Status& status) = 0;

  const Activation& activation() const { return *activation_; }
  const Procedure& procedure() const { return procedure_; }
  bool is_gradient() const { return tree_ == nullptr; }
  int64_t depth() const final { return activation_->depth; }

  size_t num_args() const final;
  size_t num_retvals() const final;
  absl::Status GetArg(int index, const tensorflow::Tensor** value) final;
  absl::Status SetRetval(int index, const tensorflow::Tensor& value) final;

 protected:
  // Leaves the activation. Returns what the caller is told of `status`.
  absl::Status Leave(const absl::Status& status);

 private:
  virtual int num_arguments() const = 0;
  virtual const tensorflow::Tensor& argument(int index) const = 0;
  virtual void SetResult(int index, const tensorflow::Tensor& value) = 0;

  // Counts an argument as held by the call, if nobody else holds it.
  void Hold(const tensorflow::Tensor& argument);

  const Census::One census_{Census::Kind::kCalls};
  ProgramRun* const run_;
  const Activation* const activation_;
  ActivationTree* const tree_;
  const Procedure& procedure_;
  const tensorflow::Tensor handle_;
  std::atomic<int64_t> bytes_of_arguments_{0};
};

// An op that is a call site: its inputs from `first_argument` on are what the
// callee takes.
struct SiteOp {
  tensorflow::OpKernelContext* ctx;
  int first_argument;
  tensorflow::AsyncOpKernel::DoneCallback done;
};

// The call of a call site: takes the inputs of an op, and gives its outputs.
class SiteCall : public Call {
 public:
  SiteCall(ProgramRun* run, const Activation* activation, ActivationTree* tree,
           tensorflow::Tensor handle, SiteOp op)
      : Call(run, activation, tree, std::move(handle)), op_(std::move(op)) {}

  void End(const absl::Status& status) override;

 private:
  int num_arguments() const override {
    return op_.ctx->num_inputs() - op_.first_argument;
  }
  const tensorflow::Tensor& argument(int index) const override {
    return op_.ctx->input(op_.first_argument + index);
  }
  void SetResult(int index, const tensorflow::Tensor& value) override {
    op_.ctx->set_output(index, value);
  }

  SiteOp op_;
};

// One of several calls that an op makes, one for each row: the root op, or a
// map in a body.
class RowCall : public Call {
 public:
  using Done = std::function<void(size_t row, const absl::Status& status,
                                  std::vector<tensorflow::Tensor> results)>;

  RowCall(ProgramRun* run, const Activation* activation, ActivationTree* tree,
          tensorflow::Tensor handle, size_t row,
          std::vector<tensorflow::Tensor> arguments, Done done);

  void End(const absl::Status& status) override;

 private:
  int num_arguments() const override {
    return static_cast<int>(arguments_.size());
  }
  const tensorflow::Tensor& argument(int index) const override {
    return arguments_[index];
  }
  void SetResult(int index, const tensorflow::Tensor& value) override {
    results_[index] = value;
  }

  const size_t row_;
  const std::vector<tensorflow::Tensor> arguments_;
  std::vector<tensorflow::Tensor> results_;
  Done done_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_CALL_H_
