#ifndef RECURSIVE_TF_CC_RUNTIME_ACTIVATION_H_
#define RECURSIVE_TF_CC_RUNTIME_ACTIVATION_H_

#include <cstdint>

namespace recursive_tf {

// The call site of an invocation that the root call makes itself.
constexpr int32_t kRootSite = -1;

// The call site of a part of an invocation: the body of a memoized SubGraph,
// which its front runs. It is no step of a path, and no call that a limit
// counts.
constexpr int32_t kSharedSite = -2;

// The run-time state of one invocation: a node of the tree whose edges lead to
// the caller (the return location of Jeong et al. 2018, section 4.1.2).
//
// Thread safety: after it is made, only its owner changes `previous_kept`.
//
// Invariants:
//   (1) `parent` outlives this activation.
//   (2) Within one root call no two activations have the same `id`, and none
//       has id 0; so (parent's id, site, ordinal) names an invocation exactly.
struct Activation {
  // Null for an invocation that the root call makes.
  const Activation* parent = nullptr;
  // What runs: an index into the program's procedures.
  int32_t procedure = 0;
  // Where in the parent's procedure it was called.
  int32_t site = kRootSite;
  // Tells apart the runs of one site by one parent: the row of a `.map`, or a
  // count where the site stands in a loop.
  int32_t ordinal = 0;
  // 1 for an invocation that the root call makes.
  int32_t depth = 1;
  uint64_t id = 0;
  // The activation that was kept before this one, for its owner alone.
  Activation* previous_kept = nullptr;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_RUNTIME_ACTIVATION_H_
