#ifndef RECURSIVE_TF_CC_TESTING_PLANS_H_
#define RECURSIVE_TF_CC_TESTING_PLANS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

// What plans in tests are put together from.

namespace recursive_tf {

inline Source S(int32_t slot) { return Source::Slot(slot); }

// A stage that runs a block and makes no calls yet.
inline Stage Compute(int32_t block, const std::vector<Source>& inputs,
                     int32_t first_output, int32_t num_outputs) {
  Stage stage;
  stage.block = block;
  for (const Source& input : inputs) stage.inputs.push_back({input});
  stage.first_output = first_output;
  stage.num_outputs = num_outputs;
  return stage;
}

// A branch that returns its one argument.
inline PlannedProcedure Returned() {
  PlannedProcedure procedure;
  procedure.is_branch = true;
  procedure.num_arguments = 1;
  procedure.num_slots = 1;
  procedure.outputs = {S(0)};
  return procedure;
}

// A branch that returns what a block gives for its one argument.
inline PlannedProcedure LeafOfTree(int32_t block) {
  PlannedProcedure leaf;
  leaf.is_branch = true;
  leaf.num_arguments = 1;
  leaf.num_slots = 2;
  leaf.stages = {Compute(block, {S(0)}, 1, 1)};
  leaf.outputs = {S(1)};
  return leaf;
}

// A branch that calls `tree` for both of its arguments, from `first_site` on,
// and returns what a block gives for what these return.
inline PlannedProcedure InnerOfTree(int32_t block, int32_t tree,
                                    int32_t first_site = 0) {
  PlannedProcedure inner;
  inner.is_branch = true;
  inner.num_arguments = 2;
  inner.num_slots = 5;  // left, right, their values, result
  Stage descend;
  descend.calls = {CallSite{first_site, {}, {Branch{tree, {S(0)}}}, 2},
                   CallSite{first_site + 1, {}, {Branch{tree, {S(1)}}}, 3}};
  inner.stages = {descend, Compute(block, {S(2), S(3)}, 4, 1)};
  inner.outputs = {S(4)};
  return inner;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_PLANS_H_
