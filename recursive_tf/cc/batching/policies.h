#ifndef RECURSIVE_TF_CC_BATCHING_POLICIES_H_
#define RECURSIVE_TF_CC_BATCHING_POLICIES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/agenda_policy.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/critical_path_policy.h"
#include "recursive_tf/cc/batching/depth_policy.h"
#include "recursive_tf/cc/batching/learned_tables.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"
#include "recursive_tf/cc/batching/table_policy.h"

namespace recursive_tf {

// Returns a policy by its name in `rtf.Options(policy=...)`, or by the text of
// a learned table; null if it is neither. "fsm" is what was learned last in
// this process for a program with blocks at such places. `order` must outlive
// it.
inline std::unique_ptr<const Policy> MakePolicy(
    const std::string& text, const BlockOrder* order,
    const std::vector<std::string>& block_places = {}) {
  if (text == "critical_path") {
    return std::make_unique<CriticalPathPolicy>(order);
  }
  if (text == "agenda") return std::make_unique<AgendaPolicy>(order);
  if (text == "depth") return std::make_unique<DepthPolicy>(order);
  if (text == "fsm") {
    return std::make_unique<TablePolicy>(
        order, LearnedTables::Global().Of(block_places));
  }
  if (auto table = TableFromText(text)) {
    return std::make_unique<TablePolicy>(order, *std::move(table));
  }
  return nullptr;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_POLICIES_H_
