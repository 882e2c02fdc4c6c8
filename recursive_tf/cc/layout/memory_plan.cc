#include "recursive_tf/cc/layout/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/layout/broadcast.h"
#include "recursive_tf/cc/layout/leaf_order.h"
#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {
namespace {

// Returns the operands that have variables, each once.
OperandNumbers FindPermutations(int32_t num_variables,
                                const std::vector<OperandBatch>& batches) {
  OperandNumbers found(batches.size());
  // By variable: the operand that had it last.
  std::vector<int64_t> seen_in(num_variables, -1);
  int64_t current = 0;
  for (size_t batch = 0; batch < batches.size(); ++batch) {
    for (size_t i = 0; i < batches[batch].size(); ++i, ++current) {
      const Operand& operand = batches[batch][i];
      const bool repeats =
          std::any_of(operand.begin(), operand.end(), [&](int32_t variable) {
            const bool was_seen = seen_in[variable] == current;
            seen_in[variable] = current;
            return was_seen;
          });
      if (repeats || operand.empty()) continue;
      found[batch].push_back(static_cast<int32_t>(i));
    }
  }
  return found;
}

// Sets the places of `operand`, counted from its first in memory, if its
// variables stand side by side. Returns whether they do.
bool FindPlaces(const std::vector<int32_t>& places, const Operand& operand,
                std::vector<int32_t>* found) {
  found->clear();
  for (const int32_t variable : operand) found->push_back(places[variable]);
  const auto [least, most] = std::minmax_element(found->begin(), found->end());
  const int32_t first = *least;
  const auto size = static_cast<int32_t>(operand.size());
  if (*most - first != size - 1) return false;
  for (int32_t& place : *found) place -= first;
  return true;
}

void FindViews(const std::vector<OperandBatch>& batches,
               const OperandNumbers& permutations, MemoryPlan* plan) {
  std::vector<int32_t> places(plan->order.size());
  for (size_t i = 0; i < places.size(); ++i) {
    places[plan->order[i]] = static_cast<int32_t>(i);
  }
  std::vector<int32_t> own;
  for (size_t batch = 0; batch < batches.size(); ++batch) {
    std::vector<bool>& is_view = plan->is_view.emplace_back();
    is_view.assign(batches[batch].size(), false);
    std::vector<int32_t> first;
    for (const int32_t i : permutations[batch]) {
      if (!FindPlaces(places, batches[batch][i], &own)) continue;
      if (first.empty()) first = own;
      is_view[i] = own == first;
    }
  }
}

}  // namespace

bool MemoryPlan::IsIdeal(int32_t batch) const {
  const std::vector<bool>& operands = is_view[batch];
  return std::all_of(operands.begin(), operands.end(),
                     [](bool is_view) { return is_view; });
}

MemoryPlan PlanMemory(int32_t num_variables,
                      const std::vector<OperandBatch>& batches) {
  const OperandNumbers permutations = FindPermutations(num_variables, batches);
  PqTree tree(num_variables);
  const OperandNumbers kept = Broadcast(&batches, permutations, &tree).Run();
  LeafOrder order(&tree);
  for (size_t batch = 0; batch < batches.size(); ++batch) {
    for (const int32_t operand : kept[batch]) {
      order.Align(batches[batch][kept[batch].front()], batches[batch][operand]);
    }
  }
  MemoryPlan plan;
  plan.order = order.Get();
  plan.num_steps = tree.num_steps();
  FindViews(batches, permutations, &plan);
  return plan;
}

}  // namespace recursive_tf
