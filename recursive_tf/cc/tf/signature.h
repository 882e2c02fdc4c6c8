#ifndef RECURSIVE_TF_CC_TF_SIGNATURE_H_
#define RECURSIVE_TF_CC_TF_SIGNATURE_H_

#include <string>

#include "absl/status/status.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// What a function takes and gives.
struct Signature {
  // Sets `*signature` to that of function `name`.
  static absl::Status Of(const std::string& name,
                         const tensorflow::FunctionLibraryDefinition& library,
                         Signature* signature);

  tensorflow::DataTypeVector arguments;
  tensorflow::DataTypeVector results;
};

// What is said of a program whose parts do not fit each other.
absl::Status Damaged(const std::string& subgraph, const std::string& what);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_SIGNATURE_H_
