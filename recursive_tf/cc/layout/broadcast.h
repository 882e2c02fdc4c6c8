#ifndef RECURSIVE_TF_CC_LAYOUT_BROADCAST_H_
#define RECURSIVE_TF_CC_LAYOUT_BROADCAST_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/operand_tree.h"
#include "recursive_tf/cc/layout/pq_tree.h"

namespace recursive_tf {

// The first pass of algorithm 2 of Chen et al. 2023 ("ED-Batch"): has each
// operand stand side by side, and then whatever of one operand stands side by
// side in all orders also in the others of its batch, until nothing changes.
// Then the parts of the tree that the operands of a batch are are of one shape.
//
// If there is an order that satisfies all operands, all are kept: what is
// broadcast holds in every such order. An operand that cannot be satisfied is
// left out alone, where the paper erases its batch.
//
// Thread safety: none.
//
// Cost: a batch is looked at, in time almost linear in its size, each time that
// something in it changed. A set of k leaves that is new to an operand is
// broadcast in time almost linear in k; there are fewer than variables.
class Broadcast {
 public:
  // Both must outlive this. Takes the operands of each batch that can be
  // satisfied at all: that have each variable once.
  Broadcast(const std::vector<OperandBatch>* batches, OperandNumbers kept,
            PqTree* tree);

  // Returns which operands are kept.
  OperandNumbers Run();

 private:
  void ReduceOperands();
  void BroadcastIn(int32_t batch);
  // Applies what holds of an operand, and is not known of another one, to that.
  // Returns whether it can.
  bool Apply(const OperandTree& from, const OperandTree& to,
             const Operand& operand);
  // Says that what these leaves are in is to be looked at again.
  void Touch(const std::vector<int32_t>& leaves);

  const std::vector<OperandBatch>& batches_;
  PqTree& tree_;
  // By batch; the first is compared with the others.
  OperandNumbers kept_;
  // By variable: the batches with it.
  std::vector<std::vector<int32_t>> used_in_;
  std::deque<int32_t> queue_;
  std::vector<bool> is_queued_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_BROADCAST_H_
