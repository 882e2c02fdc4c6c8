#ifndef RECURSIVE_TF_CC_TF_WORK_AHEAD_H_
#define RECURSIVE_TF_CC_TF_WORK_AHEAD_H_

#include "recursive_tf/cc/tf/batched_program.h"
#include "recursive_tf/cc/tf/batched_step.h"
#include "recursive_tf/cc/tf/invariants.h"

namespace recursive_tf {

// Matrices that launches will want packed, by what the last run of their
// program wanted. Members of the team begin before the first launch, while its
// leader follows calls. What has nothing to pack asks for no member: one that
// only spins until the first launch made inference of ten trees slower by a
// fifth.
class WorkAhead {
 public:
  // All of them must outlive this.
  WorkAhead(const Blocks* blocks, const BatchedStep* step)
      : blocks_(*blocks), step_(*step) {}
  // Waits until nobody reads an invariant any more.
  ~WorkAhead();
  WorkAhead(const WorkAhead&) = delete;
  WorkAhead& operator=(const WorkAhead&) = delete;

  // REQUIRES: the invariants are computed, and stay until this ends.
  void Begin(Invariants* invariants);

 private:
  const Blocks& blocks_;
  const BatchedStep& step_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_WORK_AHEAD_H_
