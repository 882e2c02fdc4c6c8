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
  // A number, `value`, in all columns.
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
  // For each item of a list the row that owns it: see Owners, `index`.
  kOfOwner,
  // For each row the sum, or the largest or least number, of the items that it
  // owns: the same. Of none it is 0, or the least or largest number there is.
  kOfItems,
  // For each row that of a table, `index`, which the operand selects: its only
  // column is a whole number.
  kLookUp,
  // sum over rows of the outer products of two operands: a matrix, no rows.
  kOuter,
  // The sum of all rows: a vector, no rows.
  kColumnSums,
  // The sum of such sums.
  kAddedSums,
};

// Whether a value has no rows.
inline bool IsSum(NodeKind kind) {
  return kind == NodeKind::kOuter || kind == NodeKind::kColumnSums ||
         kind == NodeKind::kAddedSums;
}

// Whether a value is what an instruction gives.
inline bool IsComputed(NodeKind kind) {
  return kind == NodeKind::kElementwise || kind == NodeKind::kReduction;
}

// Which rows own which items: the owners of one axis stand on another. Their
// numbers are given for a run, and do not fall from one item to the next.
struct Owners {
  int32_t items = 0;
  int32_t rows = 0;
};

// A value of a block: rows of `width` numbers, unless it is a sum over rows.
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
  // Along which its rows stand, which may all be the same; -1 of what has none.
  // Of sums over rows, that of the rows.
  int32_t axis = -1;
};

// Returns a number that says whether two constants are the same: NaN is itself,
// and -0 is not 0, by which a number may be divided.
uint64_t BitsOf(double value);

// What a block computes of rows, as a graph of values in the order in which
// they follow from each other. A value that is there already is not added
// again.
//
// Rows of a launch stand along axes: one of the activations, and one of the
// items of each kind of list that they have. What is computed row by row joins
// the axes of its operands.
class BlockGraph {
 public:
  // Returns an axis of which nothing is known; axis 0 is always there.
  int32_t AddAxis();
  // Says that two axes are one.
  void JoinAxes(int32_t a, int32_t b);
  // Returns the axis that stands for all that it was joined with.
  int32_t AxisOf(int32_t axis) const;
  int32_t num_axes() const { return static_cast<int32_t>(axes_.size()); }
  // Returns the number of owners between two axes.
  int32_t AddOwners(int32_t items, int32_t rows);
  const std::vector<Owners>& owners() const { return owners_; }
  // Takes the axes and the owners of another graph.
  void CopyAxes(const BlockGraph& from);

  int32_t Input(int32_t index, int64_t width, int32_t axis = 0);
  int32_t Shared(int32_t index, int64_t width);
  int32_t Constant(double value, int64_t width = 1);
  int32_t Elementwise(Opcode opcode, const std::vector<int32_t>& operands);
  int32_t Reduce(Reduction reduction, int32_t operand);
  int32_t Product(int32_t rows, int32_t matrix, bool is_transposed,
                  int64_t width);
  int32_t RowProduct(int32_t left, int32_t right, const RowProductShape& shape);
  // Rows that are cut stay rows, where they are constant, too.
  int32_t Slice(int32_t operand, int64_t offset, int64_t width);
  // Returns what is the same for all rows as rows along an axis, so that what
  // is computed of it has rows; rows, and with an axis of -1 all, as they are.
  // REQUIRES: rows, a constant, a shared vector, or a slice of these.
  int32_t Along(int32_t id, int32_t axis);
  int32_t Concat(const std::vector<int32_t>& operands);
  int32_t OfOwner(int32_t rows, int32_t owners);
  // There is no mean.
  int32_t OfItems(Reduction reduction, int32_t items, int32_t owners);
  int32_t LookUp(int32_t number, int32_t table, int64_t width);
  int32_t Outer(int32_t left, int32_t right);
  int32_t ColumnSums(int32_t operand);
  // Adds sums over rows, of whichever axes.
  int32_t AddSums(const std::vector<int32_t>& sums);

  const Node& operator[](int32_t id) const { return nodes_[id]; }
  int32_t size() const { return static_cast<int32_t>(nodes_.size()); }

  // What the block gives, by number.
  std::vector<int32_t> outputs;

 private:
  int32_t Add(Node node);
  // Returns the axis of operands that are read row by row, and joins theirs.
  int32_t AxisOfAll(const std::vector<int32_t>& operands);

  std::vector<Node> nodes_;
  // By axis: one that it was joined with, or itself.
  std::vector<int32_t> axes_ = {0};
  std::vector<Owners> owners_;
  std::map<Node, int32_t> known_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_GRAPH_H_
