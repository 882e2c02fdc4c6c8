#ifndef RECURSIVE_TF_CC_TF_PROCEDURES_H_
#define RECURSIVE_TF_CC_TF_PROCEDURES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
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

  static absl::Status Read(tensorflow::OpKernelConstruction* ctx,
                           ProgramSpec* spec);
};

// The procedures of a program, instantiated once for a root kernel.
//
// A call site in a body sees another function runtime than its root (one whose
// library lacks the procedures), so every call goes through this one.
//
// Thread safety: immutable after Create. The destructor releases the functions;
// no call may be in flight.
class Procedures {
 public:
  static absl::Status Create(const ProgramSpec& spec,
                             tensorflow::FunctionLibraryRuntime* runtime,
                             std::unique_ptr<Procedures>* procedures);
  ~Procedures();
  Procedures(const Procedures&) = delete;
  Procedures& operator=(const Procedures&) = delete;

  tensorflow::FunctionLibraryRuntime* runtime() const { return runtime_; }
  tensorflow::FunctionLibraryRuntime::Handle handle(int procedure) const {
    return handles_[procedure];
  }
  const std::vector<int>& captures(int procedure) const {
    return spec_.captures[procedure];
  }
  const std::shared_ptr<const std::vector<std::string>>& names() const {
    return spec_.names;
  }

 private:
  Procedures(ProgramSpec spec, tensorflow::FunctionLibraryRuntime* runtime);
  absl::Status Instantiate(const std::string& function);

  const ProgramSpec spec_;
  tensorflow::FunctionLibraryRuntime* const runtime_;
  // The runtime's library and the rewritten functions; outlives the handles.
  tensorflow::FunctionLibraryDefinition library_;
  std::vector<tensorflow::FunctionLibraryRuntime::Handle> handles_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_PROCEDURES_H_
