#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_GRAPH_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_GRAPH_H_

#include <cstdint>
#include <map>
#include <vector>

#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

enum class NodeKind : uint8_t {
  // Rows that the block takes; `index` says which.
  kInput,
  // A vector, the same for all rows: an invariant, `index`.
  kShared,
  // A number, `value`.
  kConstant,
  // Numbers of one row, column by column. An operand is as wide as the node, or
  // has one column, which stands for all.
  kElementwise,
  // One column, of all columns of the operand.
  kReduction,
  // Each row of the operand times a matrix: the invariant `index`, or its
  // transpose.
  kProduct,
  // In each row a product of two matrices that are the row's own.
  kRowProduct,
  // Columns of the operand, from `offset` on.
  kSlice,
  // The columns of all operands, side by side.
  kConcat,
  // sum over rows of the outer products of two operands: a matrix, no rows.
  kOuter,
  // The sum of all rows: a vector, no rows.
  kColumnSums,
};

// Whether a value has no rows.
inline bool IsSum(NodeKind kind) {
  return kind == NodeKind::kOuter || kind == NodeKind::kColumnSums;
}

// Whether a value is what an instruction gives.
inline bool IsComputed(NodeKind kind) {
  return kind == NodeKind::kElementwise || kind == NodeKind::kReduction;
}

// A value of a block: rows of `width` numbers, unless it is of the last two
// kinds.
struct Node {
  friend bool operator<(const Node& a, const Node& b);

  NodeKind kind = NodeKind::kInput;
  int64_t width = 0;
  std::vector<int32_t> operands;
  Opcode opcode = Opcode::kCopy;
  Reduction reduction = Reduction::kSum;
  bool is_transposed = false;
  int32_t index = 0;
  int64_t offset = 0;
  double value = 0;
  RowProductShape row_product;
};

// Returns a number that says whether two constants are the same: NaN is itself,
// and -0 is not 0, by which a number may be divided.
uint64_t BitsOf(double value);

// What a block computes of rows, as a graph of values in the order in which
// they follow from each other. A value that is there already is not added
// again.
class BlockGraph {
 public:
  int32_t Input(int32_t index, int64_t width);
  int32_t Shared(int32_t index, int64_t width);
  int32_t Constant(double value);
  int32_t Elementwise(Opcode opcode, const std::vector<int32_t>& operands);
  int32_t Reduce(Reduction reduction, int32_t operand);
  int32_t Product(int32_t rows, int32_t matrix, bool is_transposed,
                  int64_t width);
  int32_t RowProduct(int32_t left, int32_t right, const RowProductShape& shape);
  int32_t Slice(int32_t operand, int64_t offset, int64_t width);
  int32_t Concat(const std::vector<int32_t>& operands);
  int32_t Outer(int32_t left, int32_t right);
  int32_t ColumnSums(int32_t operand);

  const Node& operator[](int32_t id) const { return nodes_[id]; }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }

  // What the block gives, by number.
  std::vector<int32_t> outputs;

 private:
  int32_t Add(const Node& node);

  std::vector<Node> nodes_;
  std::map<Node, int32_t> known_;
};

// Returns the same graph without what no output needs, with instructions that
// do the work of two: the sum before an activation, a product that is added.
BlockGraph Fused(const BlockGraph& graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_GRAPH_H_
