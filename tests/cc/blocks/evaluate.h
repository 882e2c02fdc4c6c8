#ifndef TESTS_CC_BLOCKS_EVALUATE_H_
#define TESTS_CC_BLOCKS_EVALUATE_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {

// Numbers, row by row.
using Numbers = std::vector<double>;

// Computes as exactly as numbers of type T are.
template <typename T>
T Compute(Opcode opcode, T a, T b, T c) {
  switch (opcode) {
    case Opcode::kCopy:
      return a;
    case Opcode::kNeg:
      return -a;
    case Opcode::kAbs:
      return std::fabs(a);
    case Opcode::kSquare:
      return a * a;
    case Opcode::kSqrt:
      return std::sqrt(a);
    case Opcode::kRsqrt:
      return 1 / std::sqrt(a);
    case Opcode::kReciprocal:
      return 1 / a;
    case Opcode::kExp:
      return std::exp(a);
    case Opcode::kExpm1:
      return std::expm1(a);
    case Opcode::kLog:
      return std::log(a);
    case Opcode::kLog1p:
      return std::log1p(a);
    case Opcode::kErf:
      return std::erf(a);
    case Opcode::kErfc:
      return std::erfc(a);
    case Opcode::kSin:
      return std::sin(a);
    case Opcode::kCos:
      return std::cos(a);
    case Opcode::kTanh:
      return std::tanh(a);
    case Opcode::kSigmoid:
      return 1 / (1 + std::exp(-a));
    case Opcode::kRelu:
      return std::max(a, T(0));
    case Opcode::kFloor:
      return std::floor(a);
    case Opcode::kCeil:
      return std::ceil(a);
    case Opcode::kRint:
      return std::nearbyint(a);
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSub:
      return a - b;
    case Opcode::kMul:
      return a * b;
    case Opcode::kDiv:
      return a / b;
    case Opcode::kMax:
      return std::max(a, b);
    case Opcode::kMin:
      return std::min(a, b);
    case Opcode::kSquaredDifference:
      return (a - b) * (a - b);
    case Opcode::kPow:
      return std::pow(a, b);
    case Opcode::kLess:
      return a < b ? T(1) : T(0);
    case Opcode::kLessEqual:
      return a <= b ? T(1) : T(0);
    case Opcode::kEqual:
      return a == b ? T(1) : T(0);
    case Opcode::kNotEqual:
      return a != b ? T(1) : T(0);
    case Opcode::kSigmoidGrad:
      return b * a * (1 - a);
    case Opcode::kTanhGrad:
      return b * (1 - a * a);
    case Opcode::kSqrtGrad:
      return b == 0 ? T(0) : b * T(0.5) / a;
    case Opcode::kRsqrtGrad:
      return b == 0 ? T(0) : b * T(-0.5) * a * (a * a);
    case Opcode::kReciprocalGrad:
      return b == 0 ? T(0) : -b * (a * a);
    case Opcode::kReluGrad:
      return b * (a > 0 ? T(1) : T(0));
    case Opcode::kSigmoidOfSum:
      return 1 / (1 + std::exp(-(a + b)));
    case Opcode::kTanhOfSum:
      return std::tanh(a + b);
    case Opcode::kMulAdd:
      return a * b + c;
    case Opcode::kMulSubFrom:
      return c - a * b;
    case Opcode::kSelect:
      return a != 0 ? b : c;
  }
  return NAN;
}

// How many rows a graph computes, by axis, and the owners of those of lists.
struct RowCounts {
  RowCounts(int64_t rows) : num_rows({rows}) {}  // NOLINT(*-explicit-*)
  RowCounts(std::vector<int64_t> rows, std::vector<std::vector<int64_t>> of)
      : num_rows(std::move(rows)), owners(std::move(of)) {}

  std::vector<int64_t> num_rows;
  std::vector<std::vector<int64_t>> owners;
};

// What a graph computes, number by number: the oracle for its programs.
class Evaluator {
 public:
  Evaluator(const BlockGraph& graph, RowCounts counts,
            std::vector<Numbers> inputs, std::vector<Numbers> invariants)
      : graph_(graph),
        counts_(std::move(counts)),
        inputs_(std::move(inputs)),
        invariants_(std::move(invariants)) {
    for (int32_t id = 0; id < graph.size(); ++id) {
      values_.push_back(Evaluate(graph[id]));
    }
  }

  const Numbers& output(size_t index) const {
    return values_[graph_.outputs[index]];
  }

 private:
  // What is the same for all rows is there for each row of some axis.
  int64_t RowsOf(const Node& node) const {
    if (node.axis >= 0) return counts_.num_rows[graph_.AxisOf(node.axis)];
    return *std::max_element(counts_.num_rows.begin(), counts_.num_rows.end());
  }

  double At(int32_t id, int64_t row, int64_t column) const {
    const int64_t width = graph_[id].width;
    return values_[id][row * width + (width == 1 ? 0 : column)];
  }

  Numbers Evaluate(const Node& node) const {
    if (node.kind == NodeKind::kOuter) return Outer(node);
    if (node.kind == NodeKind::kColumnSums) return ColumnSums(node);
    if (node.kind == NodeKind::kAddedSums) return AddedSums(node);
    Numbers rows;
    for (int64_t row = 0; row < RowsOf(node); ++row) {
      for (int64_t column = 0; column < node.width; ++column) {
        rows.push_back(Number(node, row, column));
      }
    }
    return rows;
  }

  double Number(const Node& node, int64_t row, int64_t column) const {
    switch (node.kind) {
      case NodeKind::kInput:
        return inputs_[node.index][row * node.width + column];
      case NodeKind::kShared: {
        const Numbers& vector = invariants_[node.index];
        return vector[column % static_cast<int64_t>(vector.size())];
      }
      case NodeKind::kConstant:
        return node.value;
      case NodeKind::kElementwise: {
        double in[3] = {0, 0, 0};
        for (size_t i = 0; i < node.operands.size(); ++i) {
          in[i] = At(node.operands[i], row, column);
        }
        return Compute(node.opcode, in[0], in[1], in[2]);
      }
      case NodeKind::kReduction:
        return Reduce(node, row);
      case NodeKind::kProduct:
        return Product(node, row, column);
      case NodeKind::kRowProduct:
        return RowProduct(node, row, column);
      case NodeKind::kLookUp: {
        const auto selected =
            static_cast<int64_t>(At(node.operands[0], row, 0));
        return invariants_[node.index][selected * node.width + column];
      }
      case NodeKind::kSlice:
        return At(node.operands[0], row, node.offset + column);
      case NodeKind::kConcat:
        for (const int32_t operand : node.operands) {
          const int64_t width = graph_[operand].width;
          if (column < width) return At(operand, row, column);
          column -= width;
        }
        return NAN;
      case NodeKind::kOfOwner:
        return At(node.operands[0], counts_.owners[node.index][row], column);
      case NodeKind::kOfItems:
        return OfItems(node, row, column);
      default:
        return NAN;
    }
  }

  double OfItems(const Node& node, int64_t row, int64_t column) const {
    const std::vector<int64_t>& owners = counts_.owners[node.index];
    double found = 0;
    if (node.reduction == Reduction::kMax) found = -1e300;
    if (node.reduction == Reduction::kMin) found = 1e300;
    for (size_t item = 0; item < owners.size(); ++item) {
      if (owners[item] != row) continue;
      const double next =
          At(node.operands[0], static_cast<int64_t>(item), column);
      if (node.reduction == Reduction::kSum) {
        found += next;
      } else if (node.reduction == Reduction::kMax) {
        found = std::fmax(found, next);
      } else {
        found = std::fmin(found, next);
      }
    }
    return found;
  }

  double Reduce(const Node& node, int64_t row) const {
    const int32_t of = node.operands[0];
    double number = At(of, row, 0);
    const int64_t width = graph_[of].width;
    for (int64_t column = 1; column < width; ++column) {
      const double next = At(of, row, column);
      if (node.reduction == Reduction::kMax) {
        number = std::max(number, next);
      } else if (node.reduction == Reduction::kMin) {
        number = std::min(number, next);
      } else {
        number += next;
      }
    }
    return node.reduction == Reduction::kMean
               ? number / static_cast<double>(width)
               : number;
  }

  double Product(const Node& node, int64_t row, int64_t column) const {
    const int32_t of = node.operands[0];
    const int64_t depth = graph_[of].width;
    const Numbers& matrix = invariants_[node.index];
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t at =
          node.is_transposed ? column * depth + k : k * node.width + column;
      sum += At(of, row, k) * matrix[at];
    }
    return sum;
  }

  double RowProduct(const Node& node, int64_t row, int64_t column) const {
    const RowProductShape& shape = node.row_product;
    const int64_t i = column / shape.num_columns;
    const int64_t j = column % shape.num_columns;
    double sum = 0;
    for (int64_t k = 0; k < shape.depth; ++k) {
      const int64_t left = i * shape.left_row + k * shape.left_column;
      const int64_t right = shape.is_right_by_columns
                                ? j * shape.depth + k
                                : k * shape.num_columns + j;
      sum += At(node.operands[0], row, left) * At(node.operands[1], row, right);
    }
    return sum;
  }

  Numbers Outer(const Node& node) const {
    const int64_t height = graph_[node.operands[0]].width;
    const int64_t width = graph_[node.operands[1]].width;
    Numbers sums(height * width, 0);
    for (int64_t row = 0; row < RowsOf(node); ++row) {
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          sums[i * width + j] +=
              At(node.operands[0], row, i) * At(node.operands[1], row, j);
        }
      }
    }
    return sums;
  }

  Numbers AddedSums(const Node& node) const {
    Numbers sums = values_[node.operands[0]];
    for (size_t i = 1; i < node.operands.size(); ++i) {
      const Numbers& next = values_[node.operands[i]];
      std::transform(sums.begin(), sums.end(), next.begin(), sums.begin(),
                     std::plus<>());
    }
    return sums;
  }

  Numbers ColumnSums(const Node& node) const {
    Numbers sums(node.width, 0);
    for (int64_t row = 0; row < RowsOf(node); ++row) {
      for (int64_t j = 0; j < node.width; ++j) {
        sums[j] += At(node.operands[0], row, j);
      }
    }
    return sums;
  }

  const BlockGraph& graph_;
  const RowCounts counts_;
  const std::vector<Numbers> inputs_;
  const std::vector<Numbers> invariants_;
  std::vector<Numbers> values_;
};

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_EVALUATE_H_
