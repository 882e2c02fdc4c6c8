#ifndef RECURSIVE_TF_CC_BATCHING_POLICIES_H_
#define RECURSIVE_TF_CC_BATCHING_POLICIES_H_

#include <memory>
#include <string>

#include "recursive_tf/cc/batching/agenda_policy.h"
#include "recursive_tf/cc/batching/depth_policy.h"
#include "recursive_tf/cc/batching/policy.h"

namespace recursive_tf {

// Returns a new policy by its name in `rtf.Options(policy=...)`, or null if
// there is none of that name.
inline std::unique_ptr<Policy> MakePolicy(const std::string& name) {
  if (name == "agenda") return std::make_unique<AgendaPolicy>();
  if (name == "depth") return std::make_unique<DepthPolicy>();
  return nullptr;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_POLICIES_H_
