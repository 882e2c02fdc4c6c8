#ifndef RECURSIVE_TF_CC_LAYOUT_MEMORY_PLAN_H_
#define RECURSIVE_TF_CC_LAYOUT_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/layout/operand_batch.h"

namespace recursive_tf {

// In which order variables stand in memory, so that batches find theirs side by
// side.
struct MemoryPlan {
  // All variables.
  std::vector<int32_t> order;
  // By batch and operand: whether its variables stand side by side, in the same
  // order as those of the first operand of the batch that does.
  std::vector<std::vector<bool>> is_view;
  // What it took, as PqTree counts it.
  int64_t num_steps = 0;

  // Returns whether all operands of a batch are views.
  bool IsIdeal(int32_t batch) const;
};

// Plans memory for batches, which are numbered, by algorithm 2 of Chen et al.
// 2023 ("ED-Batch", section 3.2). Variables are 0, 1, ...; there is one.
//
// If there is an order in which all operands are views, the plan has one, but
// for operands that have a variable twice: they can be no view. If there is
// none, operands are left out as it comes, what batches write last of all;
// there may be an order with more views. What the plan says of a view is
// checked.
//
// Cost: almost linear in the size of all operands; more where they are nested
// in each other many times, as in chains of many lengths: `num_steps` says.
MemoryPlan PlanMemory(int32_t num_variables,
                      const std::vector<OperandBatch>& batches);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_MEMORY_PLAN_H_
