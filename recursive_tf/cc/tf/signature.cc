#include "recursive_tf/cc/tf/signature.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status Signature::Of(const std::string& name,
                           const tf::FunctionLibraryDefinition& library,
                           Signature* signature) {
  const tf::FunctionDef* function = library.Find(name);
  if (function == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("Function '", name,
                     "' of a program is not in the function library. Save the "
                     "model again."));
  }
  signature->arguments.clear();
  signature->results.clear();
  for (const tf::OpDef::ArgDef& argument : function->signature().input_arg()) {
    signature->arguments.push_back(argument.type());
  }
  for (const tf::OpDef::ArgDef& result : function->signature().output_arg()) {
    signature->results.push_back(result.type());
  }
  return absl::OkStatus();
}

absl::Status Damaged(const std::string& subgraph, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("The program of SubGraph '", subgraph,
                   "' is damaged: ", what, ". Trace or save the model again."));
}

}  // namespace recursive_tf
