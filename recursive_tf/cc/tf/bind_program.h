#ifndef RECURSIVE_TF_CC_TF_BIND_PROGRAM_H_
#define RECURSIVE_TF_CC_TF_BIND_PROGRAM_H_

#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/procedures.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// What a root op takes and returns, forward or backward.
struct RootTypes {
  tensorflow::DataTypeVector arguments;
  tensorflow::DataTypeVector results;
  tensorflow::DataTypeVector captures;
  // What is pushed, or the gradients of that.
  tensorflow::DataTypeVector tables;
  // By slot, backward: the parts of a contribution.
  std::vector<tensorflow::DataTypeVector> sinks;
};

// Checks that the procedures of a program fit the root op and each other: what
// call sites, pushes and sinks in them name is there, and takes and gives what
// they do. A program comes from a file, perhaps, and a run trusts its numbers.
absl::Status BindProgram(const ProgramSpec& program, const RootTypes& types,
                         const tensorflow::FunctionLibraryDefinition& library);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BIND_PROGRAM_H_
