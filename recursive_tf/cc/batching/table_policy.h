#ifndef RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_
#define RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_

#include <memory>
#include <utility>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/critical_path_policy.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/learned_tables.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/policy_table.h"

namespace recursive_tf {

// Launches what a learned table says (Gu et al. 2023, algorithm 1), and in a
// state that it lacks what CriticalPathPolicy does: structure that is decided
// by computed values may lead to states that nobody has seen.
class TablePolicy : public Policy {
 public:
  // `order` must outlive this.
  TablePolicy(const BlockOrder* order,
              std::shared_ptr<const LearnedTable> learned)
      : order_(*order), otherwise_(order), learned_(std::move(learned)) {}
  TablePolicy(const BlockOrder* order, PolicyTable table)
      : TablePolicy(order, std::make_shared<LearnedTable>(std::move(table))) {}

  Choice Choose(const Frontier& frontier) const override {
    const std::shared_ptr<const PolicyTable> table = learned_->Get();
    if (table == nullptr) return otherwise_.Choose(frontier);
    const auto found =
        table->choices.find(Encode(frontier, order_, table->encoding));
    if (found == table->choices.end()) return otherwise_.Choose(frontier);
    return {found->second, kEveryDepth};
  }

 private:
  const BlockOrder& order_;
  const CriticalPathPolicy otherwise_;
  const std::shared_ptr<const LearnedTable> learned_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_TABLE_POLICY_H_
