#ifndef RECURSIVE_TF_CC_RUNTIME_PATH_H_
#define RECURSIVE_TF_CC_RUNTIME_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {

// One invocation of a path, as a value, which outlives its activation. Steps of
// one caller are ordered as a program that makes its calls one after the other
// would reach them: by call site and ordinal, which is the row at the root.
struct PathStep {
  static PathStep Of(const Activation& activation) {
    return {activation.procedure, activation.site, activation.ordinal};
  }

  friend bool operator<(const PathStep& a, const PathStep& b) {
    return std::tie(a.site, a.ordinal) < std::tie(b.site, b.ordinal);
  }

  int32_t procedure = 0;
  int32_t site = kRootSite;
  int32_t ordinal = 0;
};

namespace path_internal {

// `caller` is the step before, or null.
inline std::string Format(const PathStep* caller, const PathStep& step,
                          bool mapped, const std::vector<std::string>& names) {
  const std::string& name = names[step.procedure];
  const std::string ordinal = std::to_string(step.ordinal);
  if (caller == nullptr) {
    return mapped ? name + "[row " + ordinal + "]" : name;
  }
  std::string text = "call#" + std::to_string(step.site);
  if (step.ordinal > 0) text += "[" + ordinal + "]";
  if (caller->procedure != step.procedure) text += " (" + name + ")";
  return text;
}

}  // namespace path_internal

// Returns an invocation path, from the outermost step to the innermost, for a
// person to read, e.g. "tree_lstm → call#1 → call#0". A long path is shortened
// in the middle.
//
// `names` are the procedures' names; `mapped` says that the root call is a
// `.map`, whose invocations are told apart by their row.
inline std::string FormatPath(const std::vector<PathStep>& steps, bool mapped,
                              const std::vector<std::string>& names) {
  constexpr size_t kShownAtEachEnd = 6;
  std::string path;
  for (size_t i = 0; i < steps.size(); ++i) {
    const size_t left = steps.size() - i;
    if (i == kShownAtEachEnd && left > kShownAtEachEnd + 1) {
      const size_t skipped = left - kShownAtEachEnd;
      path += " → … (" + std::to_string(skipped) + " calls) …";
      i += skipped - 1;
      continue;
    }
    if (i > 0) path += " → ";
    path += path_internal::Format(i == 0 ? nullptr : &steps[i - 1], steps[i],
                                  mapped, names);
  }
  return path;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_PATH_H_
