#include "recursive_tf/cc/layout/broadcast.h"

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/operand_tree.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {

using Reduced = PqTree::Reduced;

Broadcast::Broadcast(const std::vector<OperandBatch>* batches,
                     OperandNumbers kept, PqTree* tree)
    : batches_(*batches),
      tree_(*tree),
      kept_(std::move(kept)),
      used_in_(tree->num_leaves()),
      is_queued_(batches->size(), false) {}

OperandNumbers Broadcast::Run() {
  ReduceOperands();
  for (size_t batch = 0; batch < kept_.size(); ++batch) {
    const auto number = static_cast<int32_t>(batch);
    for (const int32_t operand : kept_[batch]) {
      for (const int32_t variable : batches_[batch][operand]) {
        used_in_[variable].push_back(number);
      }
    }
    // What later batches read leads to what earlier ones wrote.
    queue_.push_front(number);
    is_queued_[batch] = true;
  }
  while (!queue_.empty()) {
    const int32_t batch = queue_.front();
    queue_.pop_front();
    is_queued_[batch] = false;
    BroadcastIn(batch);
  }
  return kept_;
}

// What batches write goes first: it is in no two of them.
void Broadcast::ReduceOperands() {
  std::vector<std::vector<int32_t>> asked = std::exchange(kept_, {});
  kept_.resize(asked.size());
  const auto reduce = [this](size_t batch, int32_t operand) {
    const Reduced reduced = tree_.Reduce(batches_[batch][operand]);
    if (reduced != Reduced::kImpossible) kept_[batch].push_back(operand);
  };
  for (size_t batch = 0; batch < asked.size(); ++batch) {
    if (!asked[batch].empty()) reduce(batch, asked[batch][0]);
  }
  for (size_t batch = 0; batch < asked.size(); ++batch) {
    for (size_t i = 1; i < asked[batch].size(); ++i) {
      reduce(batch, asked[batch][i]);
    }
  }
}

void Broadcast::BroadcastIn(int32_t batch) {
  std::vector<int32_t>& kept = kept_[batch];
  for (size_t i = 1; i < kept.size();) {
    const Operand& first = batches_[batch][kept[0]];
    const Operand& other = batches_[batch][kept[i]];
    const OperandTree of_first(tree_, first);
    const OperandTree of_other(tree_, other);
    if (Apply(of_first, of_other, other) && Apply(of_other, of_first, first)) {
      ++i;
    } else {
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

bool Broadcast::Apply(const OperandTree& from, const OperandTree& to,
                      const Operand& operand) {
  std::unordered_set<uint64_t> known;
  for (const LeafRange& range : to.Constraints()) known.insert(range.hash);
  std::vector<int32_t> leaves;
  for (const LeafRange& range : from.Constraints()) {
    if (known.count(range.hash) > 0) continue;
    leaves.clear();
    for (int32_t i = range.begin; i < range.end; ++i) {
      leaves.push_back(operand[from.leaves()[i]]);
    }
    const Reduced reduced = tree_.Reduce(leaves);
    if (reduced == Reduced::kImpossible) return false;
    if (reduced == Reduced::kChanged) Touch(leaves);
  }
  return true;
}

void Broadcast::Touch(const std::vector<int32_t>& leaves) {
  for (const int32_t leaf : leaves) {
    for (const int32_t batch : used_in_[leaf]) {
      if (is_queued_[batch]) continue;
      is_queued_[batch] = true;
      queue_.push_back(batch);
    }
  }
}

}  // namespace recursive_tf
