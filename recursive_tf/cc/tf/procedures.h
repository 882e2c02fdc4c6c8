#ifndef RECURSIVE_TF_CC_TF_PROCEDURES_H_
#define RECURSIVE_TF_CC_TF_PROCEDURES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/runtime/tail_predictor.h"
#include "recursive_tf/cc/tf/team_schedule.h"
#include "tensorflow/core/common_runtime/executor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

// What the attributes of a root op say about its program.
struct ProgramSpec {
  // The functions of the procedures; the root call invokes the first.
  std::vector<std::string> functions;
  // Their names for people, shared with what outlives the kernel.
  std::shared_ptr<const std::vector<std::string>> names;
  // For each procedure, which of the root's captures are its last arguments.
  std::vector<std::vector<int>> captures;
  // On teams, if there is one.
  std::optional<TeamSchedule> schedule;

  static absl::Status Read(tensorflow::OpKernelConstruction* ctx,
                           ProgramSpec* spec);
};

// A body that is ready to run.
struct Procedure {
  Procedure(std::unique_ptr<tensorflow::Executor> executor,
            std::vector<int> captures, int num_arguments, int num_results,
            bool may_hold, int64_t bytes_per_call)
      : executor(std::move(executor)),
        captures(std::move(captures)),
        num_arguments(num_arguments),
        num_results(num_results),
        may_hold(may_hold),
        bytes_per_call(bytes_per_call) {}

  const std::unique_ptr<tensorflow::Executor> executor;
  // Which of the root's captures are its last arguments.
  const std::vector<int> captures;
  // Its own: neither the handle nor captures.
  const int num_arguments;
  const int num_results;
  // Whether an op may wait for its thread. Not so where another one may block
  // the thread until the first has run, e.g. two Python functions.
  const bool may_hold;
  // What the executor holds while a call is in flight, by estimate.
  const int64_t bytes_per_call;
  // The type of the closure with which the executor ends a run, once one was
  // seen: all that tells it from the others that the executor schedules.
  mutable std::atomic<const std::type_info*> last_closure{nullptr};
  // How long the executor goes on with what it has when it schedules more.
  const TailPredictor tail;
};

// The procedures of a program, each with an executor of its own, made once for
// a root kernel. They are not instantiated as functions: a call through the
// function runtime copies its arguments and results and looks up locks that a
// call site has no need of.
//
// Thread safety: immutable after Create. No call may be in flight when it dies.
class Procedures {
 public:
  static absl::Status Create(const ProgramSpec& spec,
                             tensorflow::FunctionLibraryRuntime* runtime,
                             std::unique_ptr<Procedures>* procedures);
  Procedures(const Procedures&) = delete;
  Procedures& operator=(const Procedures&) = delete;

  const Procedure& operator[](int index) const { return *procedures_[index]; }
  int size() const { return static_cast<int>(procedures_.size()); }
  const std::vector<std::string>& names() const { return *names_; }

  // Says that no op but a call ever waits for anything: each just computes.
  bool only_compute() const { return only_compute_; }

 private:
  Procedures(const ProgramSpec& spec,
             tensorflow::FunctionLibraryRuntime* runtime);
  absl::Status Add(const std::string& function, std::vector<int> captures);

  const std::shared_ptr<const std::vector<std::string>> names_;
  const std::optional<TeamSchedule> schedule_;
  tensorflow::FunctionLibraryRuntime* const runtime_;
  // The runtime's library; what the kernels know of their ops is in it.
  tensorflow::FunctionLibraryDefinition library_;
  std::vector<std::unique_ptr<Procedure>> procedures_;
  bool only_compute_ = true;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PROCEDURES_H_
