#ifndef RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_

#include <utility>

#include "recursive_tf/cc/batching/agenda_policy.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"

namespace recursive_tf {

// Launches what a learned table says (Gu et al. 2023, algorithm 1), and in a
// state that it lacks what AgendaPolicy does: structure that is decided by
// computed values may lead to states that nobody has seen.
class TablePolicy : public Policy {
 public:
  // `order` must outlive this.
  TablePolicy(const BlockOrder* order, PolicyTable table)
      : otherwise_(order), table_(std::move(table)) {}

  Choice Choose(const Frontier& frontier) const override {
    const auto found = table_.choices.find(Encode(frontier, table_.encoding));
    if (found == table_.choices.end()) return otherwise_.Choose(frontier);
    return {found->second, kEveryDepth};
  }

 private:
  const AgendaPolicy otherwise_;
  const PolicyTable table_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_
