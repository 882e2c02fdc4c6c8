// Reads ops of whole numbers that the block itself computes of its rows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Up to this, a float is each whole number; and no larger one is rounded to it.
constexpr int64_t kMostWhole = (int64_t{1} << 24) - 1;
constexpr int64_t kTooLarge = int64_t{1} << 25;

bool IsComparison(Opcode opcode) {
  return opcode == Opcode::kEqual || opcode == Opcode::kNotEqual ||
         opcode == Opcode::kLess || opcode == Opcode::kLessEqual;
}

// Returns how large a result may be; -1 if an op computes something else.
int64_t MostOf(Opcode opcode, int64_t a, int64_t b) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSub:
      return a + b;
    case Opcode::kMul:
      return a * b;
    case Opcode::kNeg:
    case Opcode::kAbs:
      return a;
    case Opcode::kMax:
    case Opcode::kMin:
    case Opcode::kSelect:
      return std::max(a, b);
    default:
      return -1;
  }
}

}  // namespace

void BlockGraphReader::AddLiteral(const std::vector<double>& numbers,
                                  Value* value) {
  const auto size = static_cast<int64_t>(numbers.size());
  tf::Tensor literal(block_.dtype, tf::TensorShape({size}));
  if (block_.dtype == tf::DT_FLOAT) {
    std::copy(numbers.begin(), numbers.end(), literal.flat<float>().data());
  } else {
    std::copy(numbers.begin(), numbers.end(), literal.flat<double>().data());
  }
  value->kind = Value::Kind::kLiteral;
  value->id = static_cast<int32_t>(literals_.size());
  value->shape = {size};
  value->dtype = block_.dtype;
  literals_.push_back(std::move(literal));
}

absl::Status BlockGraphReader::CountingNumbers(int64_t count, Value* numbers) {
  if (count < 1 || count - 1 > kMostWhole) return Refuse("too many columns");
  std::vector<double> counted(count);
  std::iota(counted.begin(), counted.end(), 0.0);
  AddLiteral(counted, numbers);
  return absl::OkStatus();
}

bool BlockGraphReader::HasWholeRows(const std::vector<Value>& values) {
  return std::any_of(values.begin(), values.end(), [](const Value& value) {
    return value.kind == Value::Kind::kWholeRows;
  });
}

bool BlockGraphReader::TakeWholeRows(Value* value) {
  if (value->kind != Value::Kind::kWholeRows) return false;
  value->kind = Value::Kind::kRows;
  return true;
}

// A given number that is larger than any of the block's stays larger when it is
// rounded: it may be compared.
absl::Status BlockGraphReader::ReadWholeRows(const tf::Node& node,
                                             Opcode opcode,
                                             std::vector<Value> operands) {
  // The condition of a choice is a bool, as it is.
  const size_t first = opcode == Opcode::kSelect ? 1 : 0;
  for (size_t i = first; i < operands.size(); ++i) {
    TF_RETURN_IF_ERROR(AsWholeOperand(IsComparison(opcode), &operands[i]));
  }
  if (first > 0 && operands[0].kind == Value::Kind::kNumber) {
    operands[0] = RowsOfNumber(operands[0]);
  }
  if (node.type_string() == "Select") {
    operands[0] = OfWholeRows(operands[0], operands);
  }
  Value value;
  TF_RETURN_IF_ERROR(Elementwise(opcode, operands, &value));
  if (IsComparison(opcode)) {
    value.dtype = tf::DT_BOOL;
    return Set(node, 0, value);
  }
  return SetWholeRows(
      node, value, MostOf(opcode, operands[first].most, operands.back().most));
}

absl::Status BlockGraphReader::AsWholeOperand(bool may_be_given,
                                              Value* operand) {
  switch (operand->kind) {
    case Value::Kind::kWholeRows:
      TakeWholeRows(operand);
      break;
    case Value::Kind::kNumber:
      if (!may_be_given) return Refuse(kComputedNumbers);
      *operand = RowsOfNumber(*operand);
      break;
    case Value::Kind::kLiteral: {
      if (SizeOf(operand->shape) != 1) return Refuse(kComputedNumbers);
      const int64_t number = std::clamp(NumberAt(literals_[operand->id], 0),
                                        -kTooLarge, kTooLarge);
      operand->most = std::abs(number);
      AddLiteral({static_cast<double>(number)}, operand);
      break;
    }
    default:
      return Refuse(kComputedNumbers);
  }
  operand->dtype = block_.dtype;
  return absl::OkStatus();
}

absl::Status BlockGraphReader::CastWholeRows(const tf::Node& node,
                                             Value value) {
  const int64_t most = value.dtype == tf::DT_BOOL ? 1 : value.most;
  if (node.output_type(0) != block_.dtype) {
    return SetWholeRows(node, value, most);
  }
  value.kind = Value::Kind::kRows;
  value.dtype = block_.dtype;
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::SetWholeRows(const tf::Node& node, Value value,
                                            int64_t most) {
  value.kind = Value::Kind::kWholeRows;
  value.dtype = node.output_type(0);
  value.most = most;
  const bool is_known = most >= 0 && most <= kMostWhole;
  if (!IsInteger(value.dtype) || !is_known) return Refuse(kComputedNumbers);
  return Set(node, 0, value);
}

// The first of the steps at which a number is the best one. NaN is never best;
// if nothing is, the result is 0. Beside NaN, as in TensorFlow, neither is the
// infinity that is worse than all numbers.
absl::Status BlockGraphReader::ReadArgMax(const tf::Node& node) {
  const bool is_max = node.type_string() == "ArgMax";
  Value value;
  int64_t along = 0;
  TF_RETURN_IF_ERROR(RowsAlong(node, 0, 1, &value, &along));
  const int64_t count = value.shape[along];
  Value steps;
  TF_RETURN_IF_ERROR(CountingNumbers(count, &steps));
  steps.shape.insert(steps.shape.end(), value.shape.size() - along - 1, 1);
  std::vector<bool> is_reduced(value.shape.size(), false);
  is_reduced[along] = true;
  BlockGraph& graph = block_.graph;
  const double worst =
      block_.dtype == tf::DT_FLOAT
          ? static_cast<double>(std::numeric_limits<float>::max())
          : std::numeric_limits<double>::max();
  Value best = value;
  best.id = graph.Elementwise(
      Opcode::kSelect, {graph.Elementwise(Opcode::kEqual, {value.id, value.id}),
                        value.id, graph.Constant(is_max ? -worst : worst)});
  TF_RETURN_IF_ERROR(ReduceAxes(is_max ? Reduction::kMax : Reduction::kMin,
                                is_reduced, &best));
  Value found;
  TF_RETURN_IF_ERROR(Elementwise(Opcode::kEqual, {value, best}, &found));
  Value none = value;
  none.id = graph.Constant(static_cast<double>(count));
  none.shape.assign(value.shape.size(), 1);
  TF_RETURN_IF_ERROR(
      Elementwise(Opcode::kSelect, {found, steps, none}, &found));
  TF_RETURN_IF_ERROR(ReduceAxes(Reduction::kMin, is_reduced, &found));
  found.id = graph.Elementwise(
      Opcode::kSelect, {graph.Elementwise(Opcode::kLess, {found.id, none.id}),
                        found.id, graph.Constant(0)});
  found.shape.erase(found.shape.begin() + along);
  return SetWholeRows(node, found, count - 1);
}

}  // namespace recursive_tf
