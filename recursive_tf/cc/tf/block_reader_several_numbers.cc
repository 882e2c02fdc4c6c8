// Whole numbers of which a row has several, e.g. the children of a node, or a
// seed: each is read as a number of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

bool BlockGraphReader::TakesNumbers(const tf::Node& node) const {
  for (int i = 0; i < node.num_inputs(); ++i) {
    Value value;
    if (Input(node, i, &value).ok() && value.kind == Value::Kind::kNumbers) {
      return true;
    }
  }
  return false;
}

BlockGraphReader::Value BlockGraphReader::ScalarLiteral(tf::Tensor tensor) {
  Value value;
  value.kind = Value::Kind::kLiteral;
  value.id = static_cast<int32_t>(literals_.size());
  value.dtype = tensor.dtype();
  literals_.push_back(std::move(tensor));
  return value;
}

absl::Status BlockGraphReader::Each(Value value, std::vector<Value>* each) {
  const bool is_whole = IsWholeNumber(value.dtype) || IsKey(value.dtype);
  if (value.kind == Value::Kind::kNumbers) {
    *each = numbers_[value.id];
  } else if (is_whole && SizeOf(value.shape) == 1) {
    value.shape.clear();
    each->push_back(std::move(value));
  } else if (is_whole && value.kind == Value::Kind::kLiteral &&
             value.shape.size() == 1) {
    const tf::Tensor literal = literals_[value.id];
    for (int64_t i = 0; i < literal.NumElements(); ++i) {
      each->push_back(ScalarLiteral(literal.SubSlice(i)));
    }
  } else {
    return Refuse("no whole numbers");
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::SetNumbers(const tf::Node& node, int output,
                                          std::vector<Value> each, Shape shape,
                                          tf::DataType dtype) {
  TF_RETURN_IF_ERROR(JoinRows(&each));
  Value value;
  if (each.size() == 1 && each[0].kind == Value::Kind::kNumber &&
      IsWholeNumber(dtype)) {
    value = each[0];
  } else {
    value.kind = Value::Kind::kNumbers;
    value.id = static_cast<int32_t>(numbers_.size());
    numbers_.push_back(std::move(each));
  }
  value.shape = std::move(shape);
  value.dtype = dtype;
  return Set(node, output, value);
}

absl::Status BlockGraphReader::JoinRows(std::vector<Value>* each) {
  int32_t axis = -1;
  for (const Value& value : *each) {
    if (value.kind != Value::Kind::kNumber) continue;
    axis = std::max(axis, block_.numbers[value.id].axis);
  }
  if (axis < 0) return absl::OkStatus();
  for (Value& value : *each) {
    TF_RETURN_IF_ERROR(AsAnyNumber(value, &value.id));
    value.kind = Value::Kind::kNumber;
    int32_t& own = block_.numbers[value.id].axis;
    if (own >= 0) block_.graph.JoinAxes(own, axis);
    own = axis;
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::AddColumns(RowNumber number, int64_t num_columns,
                                          std::vector<Value>* each) {
  if (num_columns > kMostPieces) return RefusePieces();
  number.num_columns = static_cast<int32_t>(num_columns);
  for (; number.column < number.num_columns; ++number.column) {
    Value& value = each->emplace_back();
    value.kind = Value::Kind::kNumber;
    value.dtype = number.dtype;
    value.id = AddNumber(number);
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::Computed(NumberOp op, tf::DataType dtype,
                                        const std::vector<Value>& operands,
                                        std::vector<Value>* each) {
  if (!IsNumber(dtype)) return Refuse("another dtype");
  RowNumber number;
  number.op = op;
  number.dtype = dtype;
  for (const Value& operand : operands) {
    TF_RETURN_IF_ERROR(AsAnyNumber(operand, &number.operands.emplace_back()));
  }
  Value value;
  value.kind = Value::Kind::kNumber;
  value.dtype = dtype;
  value.id = AddNumber(std::move(number));
  if (block_.numbers[value.id].axis < 0) return Refuse("no rows");
  each->push_back(std::move(value));
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadEach(const tf::Node& node) {
  const NumberOp op = *NumberOpOf(node.type_string());
  bool are_signed = IsWholeNumber(node.output_type(0));
  for (int i = 0; i < node.num_inputs(); ++i) {
    are_signed = are_signed && IsWholeNumber(node.input_type(i));
  }
  if (!are_signed && op != NumberOp::kCast && op != NumberOp::kMixKey) {
    return Refuse("another dtype");
  }
  Shape shape;
  std::vector<std::vector<Value>> operands(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, i, &value));
    TF_RETURN_IF_ERROR(Each(value, &operands[i]));
    const bool is_wider = value.shape.size() == shape.size() &&
                          SizeOf(value.shape) > SizeOf(shape);
    if (is_wider || value.shape.size() > shape.size()) shape = value.shape;
  }
  std::vector<Value> each;
  for (int64_t i = 0; i < SizeOf(shape); ++i) {
    std::vector<Value> of_one;
    for (const std::vector<Value>& operand : operands) {
      const bool is_one = operand.size() == 1;
      if (!is_one && static_cast<int64_t>(operand.size()) != SizeOf(shape)) {
        return Refuse("another shape");
      }
      of_one.push_back(operand[is_one ? 0 : i]);
    }
    TF_RETURN_IF_ERROR(Computed(op, node.output_type(0), of_one, &each));
  }
  return SetNumbers(node, 0, std::move(each), std::move(shape),
                    node.output_type(0));
}

absl::Status BlockGraphReader::CastEach(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (!IsWholeNumber(value.dtype) || node.output_type(0) != block_.dtype) {
    return Refuse("another dtype");
  }
  std::vector<int32_t> columns;
  for (const Value& each : std::vector<Value>(numbers_[value.id])) {
    if (each.kind != Value::Kind::kNumber) return Refuse("no rows");
    columns.push_back(RowsOfNumber(each).id);
  }
  if (columns.empty()) return Refuse("no columns");
  value.kind = Value::Kind::kRows;
  value.id = columns.size() == 1 ? columns[0] : block_.graph.Concat(columns);
  value.dtype = block_.dtype;
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::PackNumbers(const tf::Node& node, int64_t axis) {
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis, 1, &along));
  std::vector<Value> packed;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, i, &value));
    std::vector<Value> each;
    TF_RETURN_IF_ERROR(Each(value, &each));
    if (!value.shape.empty()) return Refuse("another shape");
    packed.push_back(each.front());
  }
  return SetNumbers(node, 0, std::move(packed), {node.num_inputs()},
                    node.output_type(0));
}

absl::Status BlockGraphReader::UnpackNumbers(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.shape.size() != 1) return Refuse("another shape");
  const std::vector<Value> each = numbers_[value.id];
  for (size_t i = 0; i < each.size(); ++i) {
    TF_RETURN_IF_ERROR(
        SetNumbers(node, static_cast<int>(i), {each[i]}, {}, value.dtype));
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::JoinNumbers(const tf::Node& node, int64_t axis) {
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis, 1, &along));
  std::vector<Value> joined;
  for (int i = 0; i < node.num_inputs() - 1; ++i) {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, i, &value));
    std::vector<Value> each;
    TF_RETURN_IF_ERROR(Each(value, &each));
    if (value.shape.size() != 1) return Refuse("another shape");
    joined.insert(joined.end(), each.begin(), each.end());
  }
  const auto size = static_cast<int64_t>(joined.size());
  return SetNumbers(node, 0, std::move(joined), {size}, node.output_type(0));
}

absl::Status BlockGraphReader::SliceNumbers(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  std::vector<Value> all;
  TF_RETURN_IF_ERROR(Each(value, &all));
  std::vector<Range> ranges;
  TF_RETURN_IF_ERROR(RangesOfRow(node, value.shape, &ranges));
  if (ranges.size() != 1 || ranges[0].is_new) return Refuse("another slice");
  std::vector<Value> each;
  for (const int64_t column : ColumnsOf(ranges, value.shape)) {
    each.push_back(all[column]);
  }
  Shape shape;
  if (!ranges[0].is_one) shape.push_back(static_cast<int64_t>(each.size()));
  return SetNumbers(node, 0, std::move(each), std::move(shape), value.dtype);
}

absl::Status BlockGraphReader::ReadElementAt(const tf::Node& node,
                                             const Value& table,
                                             const Value& numbers) {
  const std::vector<Value> each = numbers_[numbers.id];
  std::string policy;
  const bool has_policy =
      tf::TryGetNodeAttr(node.attrs(), "bad_indices_policy", &policy);
  if (table.kind != Value::Kind::kInvariant || !IsWholeNumber(table.dtype) ||
      each.empty() || each[0].kind != Value::Kind::kNumber ||
      each.size() != table.shape.size() || numbers.shape.size() != 1 ||
      (has_policy && policy == "IGNORE")) {
    return Refuse("another lookup");
  }
  const auto add = [&](NumberOp op, std::vector<int32_t> operands,
                       int64_t constant) {
    RowNumber number = {op, tf::DT_INT64, -1, std::move(operands)};
    number.constant = constant;
    return AddNumber(std::move(number));
  };
  int32_t place =
      AddNumber({NumberOp::kInside, tf::DT_INT64, table.id, {each[0].id}});
  for (size_t axis = 1; axis < each.size(); ++axis) {
    const int64_t size = table.shape[axis];
    const int32_t inside = add(NumberOp::kInside, {each[axis].id}, size);
    const int32_t factor = add(NumberOp::kConstant, {}, size);
    place = add(NumberOp::kMul, {place, factor}, 0);
    place = add(NumberOp::kAdd, {place, inside}, 0);
  }
  Value element;
  element.kind = Value::Kind::kNumber;
  element.dtype = table.dtype;
  element.id = AddNumber({NumberOp::kElement, table.dtype, table.id, {place}});
  if (block_.numbers[element.id].axis < 0) return Refuse("no rows");
  return Set(node, 0, element);
}

absl::Status BlockGraphReader::BroadcastNumbers(const tf::Node& node) {
  Value literal;
  TF_RETURN_IF_ERROR(Input(node, 0, &literal));
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  if (shape.empty() || shape.front() != -1) return Refuse("another shape");
  shape.erase(shape.begin());
  if (shape != literal.shape) return Refuse("another shape");
  std::vector<Value> each;
  TF_RETURN_IF_ERROR(Each(literal, &each));
  return SetNumbers(node, 0, std::move(each), std::move(shape), literal.dtype);
}

}  // namespace recursive_tf
