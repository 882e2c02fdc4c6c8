#include "recursive_tf/cc/batching/block_order.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"

namespace recursive_tf {
namespace {

// The stages of all procedures, and their ends, as a graph of what comes
// next. It does not tell apart to which caller a procedure returns.
class NextBlocks {
 public:
  explicit NextBlocks(const Plan& plan) : plan_(plan) {
    int32_t num_points = 0;
    for (const PlannedProcedure& procedure : plan.procedures) {
      first_.push_back(num_points);
      num_points += static_cast<int32_t>(procedure.stages.size()) + 1;
    }
    next_.resize(num_points);
    block_.assign(num_points, kNoBlock);
    for (size_t p = 0; p < plan.procedures.size(); ++p) Add(p);
  }

  // Sets what `point` leads to.
  void Visit(int32_t point, std::vector<bool>* blocks) const {
    std::vector<bool> seen(next_.size(), false);
    std::vector<int32_t> todo = next_[point];
    while (!todo.empty()) {
      const int32_t at = todo.back();
      todo.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      if (block_[at] != kNoBlock) (*blocks)[block_[at]] = true;
      todo.insert(todo.end(), next_[at].begin(), next_[at].end());
    }
  }

  const std::vector<int32_t>& blocks() const { return block_; }

 private:
  void Add(size_t procedure) {
    const std::vector<Stage>& stages = plan_.procedures[procedure].stages;
    if (const auto& next = plan_.procedures[procedure].goes_on;
        next.has_value()) {
      next_[EndOf(static_cast<int32_t>(procedure))].push_back(
          first_[next->procedure]);
    }
    for (size_t k = 0; k < stages.size(); ++k) {
      const int32_t point = first_[procedure] + static_cast<int32_t>(k);
      block_[point] = stages[k].block;
      next_[point].push_back(point + 1);
      for (const CallSite& call : stages[k].calls) {
        for (const Branch& branch : call.branches) {
          next_[point].push_back(first_[branch.procedure]);
          next_[EndOf(branch.procedure)].push_back(point + 1);
        }
      }
    }
  }

  int32_t EndOf(int32_t procedure) const {
    return first_[procedure] +
           static_cast<int32_t>(plan_.procedures[procedure].stages.size());
  }

  const Plan& plan_;
  std::vector<int32_t> first_;
  std::vector<std::vector<int32_t>> next_;
  std::vector<int32_t> block_;
};

// Returns by block which blocks it may lead to.
std::vector<std::vector<bool>> LeadsTo(const Plan& plan) {
  const NextBlocks next(plan);
  std::vector<std::vector<bool>> leads_to(
      plan.num_blocks, std::vector<bool>(plan.num_blocks, false));
  const std::vector<int32_t>& blocks = next.blocks();
  for (size_t point = 0; point < blocks.size(); ++point) {
    if (blocks[point] == kNoBlock) continue;
    next.Visit(static_cast<int32_t>(point), &leads_to[blocks[point]]);
  }
  return leads_to;
}

}  // namespace

BlockOrder::BlockOrder(const Plan& plan) {
  const std::vector<std::vector<bool>> leads_to = LeadsTo(plan);
  const size_t num_blocks = leads_to.size();
  ranks_.assign(num_blocks, 0);
  // The longest chain of blocks before each: found in as many rounds.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t a = 0; a < num_blocks; ++a) {
      for (size_t b = 0; b < num_blocks; ++b) {
        if (!leads_to[a][b]) continue;
        const int32_t least = ranks_[a] + (leads_to[b][a] ? 0 : 1);
        if (ranks_[b] >= least) continue;
        ranks_[b] = least;
        changed = true;
      }
    }
  }
}

}  // namespace recursive_tf
