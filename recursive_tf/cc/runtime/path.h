#ifndef RECURSIVE_TF_CC_RUNTIME_PATH_H_
#define RECURSIVE_TF_CC_RUNTIME_PATH_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "recursive_tf/cc/runtime/activation.h"

namespace recursive_tf {
namespace path_internal {

// `caller` is the step before, or null.
inline std::string Step(const Activation* caller, const Activation& activation,
                        bool mapped, const std::vector<std::string>& names) {
  const std::string& name = names[activation.procedure];
  const std::string ordinal = std::to_string(activation.ordinal);
  if (caller == nullptr) {
    return mapped ? name + "[row " + ordinal + "]" : name;
  }
  std::string step = "call#" + std::to_string(activation.site);
  if (activation.ordinal > 0) step += "[" + ordinal + "]";
  if (caller->procedure != activation.procedure) {
    step += " (" + name + ")";
  }
  return step;
}

}  // namespace path_internal

// Returns the invocation path of `activation` for a person to read, e.g.
// "tree_lstm → call#1 → call#0". A long path is shortened in the middle.
//
// `names` are the procedures' names; `mapped` says that the root call is a
// `.map`, whose invocations are told apart by their row.
inline std::string FormatPath(const Activation& activation, bool mapped,
                              const std::vector<std::string>& names) {
  constexpr size_t kShownAtEachEnd = 6;
  std::vector<const Activation*> steps;
  for (const Activation* a = &activation; a != nullptr; a = a->parent) {
    if (a->site != kSharedSite) steps.push_back(a);
  }
  std::reverse(steps.begin(), steps.end());
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
    path += path_internal::Step(i == 0 ? nullptr : steps[i - 1], *steps[i],
                                mapped, names);
  }
  return path;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_PATH_H_
