#ifndef RECURSIVE_TF_CC_TF_OWN_OPS_H_
#define RECURSIVE_TF_CC_TF_OWN_OPS_H_

#include <string>

#include "absl/strings/match.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Returns whether `type` is the type of an op that this library registers.
inline bool IsOwnOp(const std::string& type) {
  return absl::StartsWith(type, "Recursive") ||
         absl::StartsWith(type, "StatelessRecursive");
}

// Returns whether an op of `type` is a call, of a body or of its gradient.
inline bool IsCall(const std::string& type) {
  return type == "RecursiveCall" || type == "StatelessRecursiveCall" ||
         type == "RecursiveCallGradient" || type == "RecursiveMap" ||
         type == "StatelessRecursiveMap" || type == "RecursiveMapGradient" ||
         type == "RecursiveSharedCall" ||
         type == "StatelessRecursiveSharedCall";
}

// Returns whether ops of `type`, which are stateful, do what no other op of a
// body sees: it is read after the root call, or by its gradient.
inline bool IsSeenByRootOnly(const std::string& type) {
  return type == "RecursivePush" || type == "RecursiveKeep" ||
         type == "RecursiveSink" || type == "RecursiveCallGradient" ||
         type == "RecursiveMapGradient" ||
         type == "RecursiveSharedCallGradient";
}

// Returns whether `node` is stateful. Arguments and results are so in name
// only.
inline bool IsStateful(const tensorflow::Node& node) {
  return node.op_def().is_stateful() && !node.IsArg() && !node.IsRetval();
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_OWN_OPS_H_
