#include "recursive_tf/cc/blocks/block_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

bool operator<(const Node& a, const Node& b) {
  const auto key = [](const Node& node) {
    return std::tie(node.kind, node.width, node.operands, node.opcode,
                    node.reduction, node.is_transposed, node.index, node.offset,
                    node.row_product);
  };
  const auto key_a = key(a);
  const auto key_b = key(b);
  if (key_a != key_b) return key_a < key_b;
  // What has operands says no more of its axis than they do.
  if (a.operands.empty() && a.axis != b.axis) return a.axis < b.axis;
  return BitsOf(a.value) < BitsOf(b.value);
}

uint64_t BitsOf(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

int32_t BlockGraph::AddAxis() {
  axes_.push_back(num_axes());
  return axes_.back();
}

void BlockGraph::JoinAxes(int32_t a, int32_t b) {
  axes_[AxisOf(a)] = AxisOf(b);
}

int32_t BlockGraph::AxisOf(int32_t axis) const {
  while (axis >= 0 && axes_[axis] != axis) axis = axes_[axis];
  return axis;
}

int32_t BlockGraph::AddOwners(int32_t items, int32_t rows) {
  owners_.push_back({items, rows});
  return static_cast<int32_t>(owners_.size()) - 1;
}

void BlockGraph::CopyAxes(const BlockGraph& from) {
  axes_ = from.axes_;
  owners_ = from.owners_;
}

int32_t BlockGraph::AxisOfAll(const std::vector<int32_t>& operands) {
  int32_t axis = -1;
  for (const int32_t operand : operands) {
    const int32_t other = nodes_[operand].axis;
    if (other < 0) continue;
    if (axis >= 0) JoinAxes(other, axis);
    axis = AxisOf(other);
  }
  return axis;
}

// What has operands stands along their axis, unless it says another one.
int32_t BlockGraph::Add(Node node) {
  if (node.axis < 0) node.axis = AxisOfAll(node.operands);
  const auto [known, is_new] = known_.emplace(node, size());
  if (is_new) nodes_.push_back(std::move(node));
  return known->second;
}

int32_t BlockGraph::Input(int32_t index, int64_t width, int32_t axis) {
  Node node;
  node.kind = NodeKind::kInput;
  node.index = index;
  node.width = width;
  node.axis = axis;
  return Add(node);
}

int32_t BlockGraph::Shared(int32_t index, int64_t width) {
  Node node;
  node.kind = NodeKind::kShared;
  node.index = index;
  node.width = width;
  return Add(node);
}

int32_t BlockGraph::Constant(double value, int64_t width) {
  Node node;
  node.kind = NodeKind::kConstant;
  node.value = value;
  node.width = width;
  return Add(node);
}

int32_t BlockGraph::Elementwise(Opcode opcode,
                                const std::vector<int32_t>& operands) {
  Node node;
  node.kind = NodeKind::kElementwise;
  node.opcode = opcode;
  node.operands = operands;
  for (const int32_t operand : operands) {
    node.width = std::max(node.width, nodes_[operand].width);
  }
  return Add(node);
}

int32_t BlockGraph::Reduce(Reduction reduction, int32_t operand) {
  Node node;
  node.kind = NodeKind::kReduction;
  node.reduction = reduction;
  node.operands = {operand};
  node.width = 1;
  return Add(node);
}

int32_t BlockGraph::Product(int32_t rows, int32_t matrix, bool is_transposed,
                            int64_t width) {
  Node node;
  node.kind = NodeKind::kProduct;
  node.operands = {rows};
  node.index = matrix;
  node.is_transposed = is_transposed;
  node.width = width;
  return Add(node);
}

int32_t BlockGraph::RowProduct(int32_t left, int32_t right,
                               const RowProductShape& shape) {
  Node node;
  node.kind = NodeKind::kRowProduct;
  node.operands = {left, right};
  node.row_product = shape;
  node.width = shape.num_rows * shape.num_columns;
  return Add(node);
}

int32_t BlockGraph::Slice(int32_t operand, int64_t offset, int64_t width) {
  const Node& from = nodes_[operand];
  if (offset == 0 && width == from.width) return operand;
  if (from.kind == NodeKind::kSlice) {
    return Slice(from.operands[0], from.offset + offset, width);
  }
  if (from.kind == NodeKind::kConstant) {
    return Along(Constant(from.value, width), from.axis);
  }
  if (from.kind == NodeKind::kConcat) {
    const int32_t axis = from.axis;
    int64_t begin = 0;
    for (const int32_t part : from.operands) {
      const int64_t end = begin + nodes_[part].width;
      if (offset >= begin && offset + width <= end) {
        return Along(Slice(part, offset - begin, width), axis);
      }
      begin = end;
    }
  }
  Node node;
  node.kind = NodeKind::kSlice;
  node.operands = {operand};
  node.offset = offset;
  node.width = width;
  return Add(node);
}

int32_t BlockGraph::Along(int32_t id, int32_t axis) {
  Node node = nodes_[id];
  if (axis < 0 || node.axis >= 0) return id;
  if (node.kind == NodeKind::kSlice) {
    return Slice(Along(node.operands[0], axis), node.offset, node.width);
  }
  node.axis = AxisOf(axis);
  return Add(std::move(node));
}

int32_t BlockGraph::Concat(const std::vector<int32_t>& operands) {
  if (operands.size() == 1) return operands[0];
  Node node;
  node.kind = NodeKind::kConcat;
  for (const int32_t operand : operands) {
    const Node& part = nodes_[operand];
    node.width += part.width;
    if (part.kind == NodeKind::kConcat) {
      node.operands.insert(node.operands.end(), part.operands.begin(),
                           part.operands.end());
    } else {
      node.operands.push_back(operand);
    }
  }
  return Add(node);
}

int32_t BlockGraph::OfOwner(int32_t rows, int32_t owners) {
  JoinAxes(nodes_[rows].axis, owners_[owners].rows);
  Node node;
  node.kind = NodeKind::kOfOwner;
  node.operands = {rows};
  node.index = owners;
  node.width = nodes_[rows].width;
  node.axis = owners_[owners].items;
  return Add(node);
}

int32_t BlockGraph::OfItems(Reduction reduction, int32_t items,
                            int32_t owners) {
  JoinAxes(nodes_[items].axis, owners_[owners].items);
  Node node;
  node.kind = NodeKind::kOfItems;
  node.reduction = reduction;
  node.operands = {items};
  node.index = owners;
  node.width = nodes_[items].width;
  node.axis = owners_[owners].rows;
  return Add(node);
}

int32_t BlockGraph::LookUp(int32_t number, int32_t table, int64_t width) {
  Node node;
  node.kind = NodeKind::kLookUp;
  node.operands = {number};
  node.index = table;
  node.width = width;
  return Add(node);
}

int32_t BlockGraph::Outer(int32_t left, int32_t right) {
  Node node;
  node.kind = NodeKind::kOuter;
  node.operands = {left, right};
  node.width = nodes_[right].width;
  return Add(node);
}

int32_t BlockGraph::ColumnSums(int32_t operand) {
  Node node;
  node.kind = NodeKind::kColumnSums;
  node.operands = {operand};
  node.width = nodes_[operand].width;
  return Add(node);
}

int32_t BlockGraph::AddSums(const std::vector<int32_t>& sums) {
  Node node;
  node.kind = NodeKind::kAddedSums;
  for (const int32_t sum : sums) {
    const Node& part = nodes_[sum];
    if (part.kind == NodeKind::kAddedSums) {
      node.operands.insert(node.operands.end(), part.operands.begin(),
                           part.operands.end());
    } else {
      node.operands.push_back(sum);
    }
  }
  node.width = nodes_[sums.front()].width;
  // It has no rows, so it says nothing of axes.
  node.axis = 0;
  return Add(node);
}

}  // namespace recursive_tf
