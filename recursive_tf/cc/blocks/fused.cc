#include "recursive_tf/cc/blocks/fused.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {
namespace {

// Copies what outputs need, and makes one instruction of two.
class Fuser {
 public:
  explicit Fuser(const BlockGraph& graph)
      : graph_(graph), copies_(graph.size(), -1), num_reads_(graph.size(), 0) {
    made_.CopyAxes(graph);
    std::vector<int32_t> todo = graph.outputs;
    std::vector<bool> seen(graph.size(), false);
    for (const int32_t output : graph.outputs) ++num_reads_[output];
    while (!todo.empty()) {
      const int32_t id = todo.back();
      todo.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      needed_.push_back(id);
      for (const int32_t operand : graph[id].operands) {
        ++num_reads_[operand];
        todo.push_back(operand);
      }
    }
    std::sort(needed_.begin(), needed_.end());
    FindWhole();
  }

  BlockGraph Run() {
    for (const int32_t id : needed_) copies_[id] = Copy(graph_[id]);
    for (const int32_t output : graph_.outputs) {
      made_.outputs.push_back(copies_[output]);
    }
    return std::move(made_);
  }

 private:
  // Finds what is read with all of its columns; what is only read by something
  // that is only cut is not.
  void FindWhole() {
    is_whole_.assign(graph_.size(), false);
    for (const int32_t output : graph_.outputs) is_whole_[output] = true;
    for (auto id = needed_.rbegin(); id != needed_.rend(); ++id) {
      const Node& node = graph_[*id];
      if (node.kind == NodeKind::kSlice || IsOnlyCut(*id)) continue;
      for (const int32_t operand : node.operands) is_whole_[operand] = true;
    }
  }

  int32_t Copy(const Node& node) {
    switch (node.kind) {
      case NodeKind::kInput:
        return made_.Input(node.index, node.width, graph_.AxisOf(node.axis));
      case NodeKind::kShared:
        return made_.Along(made_.Shared(node.index, node.width),
                           graph_.AxisOf(node.axis));
      case NodeKind::kConstant:
        return made_.Along(made_.Constant(node.value, node.width),
                           graph_.AxisOf(node.axis));
      case NodeKind::kElementwise:
        return CopyElementwise(node);
      case NodeKind::kReduction:
        return made_.Reduce(node.reduction, copies_[node.operands[0]]);
      case NodeKind::kProduct:
        return made_.Product(copies_[node.operands[0]], node.index,
                             node.is_transposed, node.width);
      case NodeKind::kRowProduct:
        return made_.RowProduct(copies_[node.operands[0]],
                                copies_[node.operands[1]], node.row_product);
      case NodeKind::kSlice:
        return IsOnlyCut(node.operands[0])
                   ? CopySlice(node.operands[0], node.offset, node.width)
                   : made_.Slice(copies_[node.operands[0]], node.offset,
                                 node.width);
      case NodeKind::kConcat:
        return made_.Concat(CopiesOf(node.operands));
      case NodeKind::kOfOwner:
        return made_.OfOwner(copies_[node.operands[0]], node.index);
      case NodeKind::kOfItems:
        return made_.OfItems(node.reduction, copies_[node.operands[0]],
                             node.index);
      case NodeKind::kLookUp:
        return made_.LookUp(copies_[node.operands[0]], node.index, node.width);
      case NodeKind::kOuter:
        return made_.Outer(copies_[node.operands[0]],
                           copies_[node.operands[1]]);
      case NodeKind::kColumnSums:
        return made_.ColumnSums(copies_[node.operands[0]]);
      case NodeKind::kAddedSums:
        return made_.AddSums(CopiesOf(node.operands));
    }
    return -1;
  }

  // Whether a value is computed column by column, and only read in parts: then
  // each part is computed where it is read.
  bool IsOnlyCut(int32_t id) const {
    return graph_[id].kind == NodeKind::kElementwise && !is_whole_[id];
  }

  // Copies columns of what is only cut, and so on through what that is of.
  int32_t CopySlice(int32_t id, int64_t offset, int64_t width) {
    const Node& node = graph_[id];
    if (node.width == 1) return copies_[id];
    if (!IsOnlyCut(id)) return made_.Slice(copies_[id], offset, width);
    std::vector<int32_t> operands;
    operands.reserve(node.operands.size());
    for (const int32_t operand : node.operands) {
      operands.push_back(CopySlice(operand, offset, width));
    }
    return made_.Elementwise(node.opcode, operands);
  }

  int32_t CopyElementwise(const Node& node) {
    const std::vector<int32_t> in = CopiesOf(node.operands);
    if (const Node* sum = OnlyReadBy(node, 0, Opcode::kAdd)) {
      const std::vector<int32_t> terms = CopiesOf(sum->operands);
      if (node.opcode == Opcode::kSigmoid) {
        return made_.Elementwise(Opcode::kSigmoidOfSum, terms);
      }
      if (node.opcode == Opcode::kTanh) {
        return made_.Elementwise(Opcode::kTanhOfSum, terms);
      }
    }
    const bool adds = node.opcode == Opcode::kAdd;
    for (int i = 0; i < 2; ++i) {
      if (!adds && !(node.opcode == Opcode::kSub && i == 1)) continue;
      const Node* product = OnlyReadBy(node, i, Opcode::kMul);
      if (product == nullptr) continue;
      std::vector<int32_t> factors = CopiesOf(product->operands);
      factors.push_back(in[1 - i]);
      return made_.Elementwise(adds ? Opcode::kMulAdd : Opcode::kMulSubFrom,
                               factors);
    }
    return made_.Elementwise(node.opcode, in);
  }

  // Returns an operand that computes `opcode` for nobody else, or null.
  const Node* OnlyReadBy(const Node& node, size_t operand,
                         Opcode opcode) const {
    const int32_t id = node.operands[operand];
    const Node& found = graph_[id];
    return found.kind == NodeKind::kElementwise && found.opcode == opcode &&
                   found.width == node.width && num_reads_[id] == 1
               ? &found
               : nullptr;
  }

  std::vector<int32_t> CopiesOf(const std::vector<int32_t>& ids) const {
    std::vector<int32_t> copies;
    copies.reserve(ids.size());
    for (const int32_t id : ids) copies.push_back(copies_[id]);
    return copies;
  }

  const BlockGraph& graph_;
  BlockGraph made_;
  std::vector<int32_t> copies_;
  std::vector<int32_t> num_reads_;
  std::vector<int32_t> needed_;
  std::vector<bool> is_whole_;
};

}  // namespace

BlockGraph Fused(const BlockGraph& graph) {
  // What was taken apart or fused is still there, read by nobody, until the
  // next run drops it; and what is left may be fused.
  BlockGraph fused = Fuser(graph).Run();
  for (int32_t size = -1; size != fused.size();) {
    size = fused.size();
    fused = Fuser(fused).Run();
  }
  return fused;
}

}  // namespace recursive_tf
