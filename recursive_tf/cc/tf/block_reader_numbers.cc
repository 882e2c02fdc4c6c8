#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

// Of whole numbers of rows, and of nothing else that has rows.
bool BlockGraphReader::IsOfNumbers(const tf::Node& node) const {
  if (!NumberOpOf(node.type_string()).has_value()) return false;
  const tf::DataType dtype = node.output_type(0);
  if (dtype != tf::DT_BOOL && !tf::DataTypeIsInteger(dtype)) return false;
  bool has_number = false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Value value;
    if (!Input(node, i, &value).ok()) continue;
    if (value.kind == Value::Kind::kRows ||
        value.kind == Value::Kind::kWholeRows) {
      return false;
    }
    has_number |= value.is_numbers();
  }
  return has_number;
}

absl::Status BlockGraphReader::AsNumber(const Value& value, int32_t* id) {
  if (!IsWholeNumber(value.dtype)) {
    return Refuse("no whole number for each row");
  }
  return AsAnyNumber(value, id);
}

absl::Status BlockGraphReader::AsAnyNumber(const Value& value, int32_t* id) {
  if (SizeOf(value.shape) != 1) return Refuse("no whole number for each row");
  RowNumber number;
  number.dtype = value.dtype;
  switch (value.kind) {
    case Value::Kind::kNumber:
      *id = value.id;
      return absl::OkStatus();
    case Value::Kind::kInvariant:
      number.op = NumberOp::kInvariant;
      number.tensor = value.id;
      break;
    case Value::Kind::kLiteral:
      number.op = NumberOp::kConstant;
      number.constant = NumberAt(literals_[value.id], 0);
      break;
    default:
      return Refuse("no whole number for each row");
  }
  *id = AddNumber(std::move(number));
  return absl::OkStatus();
}

BlockGraphReader::Value BlockGraphReader::RowsOfNumber(const Value& number) {
  Value rows = number;
  rows.kind = Value::Kind::kRows;
  if (rows.dtype != tf::DT_BOOL) rows.dtype = block_.dtype;
  const auto [known, is_new] = node_of_number_.emplace(number.id, -1);
  if (is_new) {
    BlockInput input;
    input.number = number.id;
    known->second = AddInput(input, 1, block_.numbers[number.id].axis);
  }
  rows.id = known->second;
  return rows;
}

// Numbers that are computed of each other are those of the same rows.
int32_t BlockGraphReader::AddNumber(RowNumber number) {
  for (const int32_t operand : number.operands) {
    const int32_t axis = block_.numbers[operand].axis;
    if (number.is_of_list() || axis < 0) continue;
    if (number.axis >= 0) block_.graph.JoinAxes(axis, number.axis);
    number.axis = axis;
  }
  for (const int32_t operand : number.operands) {
    RowNumber& of = block_.numbers[operand];
    if (of.axis < 0) of.axis = number.axis;
  }
  block_.numbers.push_back(std::move(number));
  return static_cast<int32_t>(block_.numbers.size()) - 1;
}

absl::Status BlockGraphReader::ReshapeNumber(const tf::Node& node,
                                             Value number) {
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  const bool is_axis = node.type_string() == "ExpandDims";
  if (SizeOf(number.shape) != 1 ||
      (is_axis ? shape != Shape{1} && shape != Shape{-1}
               : shape.empty() || shape.front() != -1)) {
    return Refuse("another shape");
  }
  if (is_axis) {
    number.shape.push_back(1);
  } else {
    number.shape.assign(shape.begin() + 1, shape.end());
  }
  if (SizeOf(number.shape) != 1) return Refuse("another shape");
  return Set(node, 0, number);
}

absl::Status BlockGraphReader::ReadGather(const tf::Node& node) {
  const bool is_variable = node.type_string() == "ResourceGather";
  Value table;
  Value number;
  TF_RETURN_IF_ERROR(Input(node, 0, &table));
  TF_RETURN_IF_ERROR(Input(node, 1, &number));
  int32_t batch_dims = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "batch_dims", &batch_dims));
  Shape axis = {0};
  if (!is_variable) {
    axis.clear();
    TF_RETURN_IF_ERROR(Integers(node, 2, &axis));
  }
  if (table.kind == Value::Kind::kRows && batch_dims == 0 &&
      number.kind == Value::Kind::kLiteral) {
    return GatherColumns(node, number, axis[0], table);
  }
  TakeAsInvariant(&table);
  const bool is_computed = number.kind == Value::Kind::kWholeRows;
  const bool is_known = is_computed ? table.kind == Value::Kind::kInvariant
                                    : number.kind == Value::Kind::kNumber;
  if (!is_known || SizeOf(number.shape) != 1 || batch_dims != 0 ||
      axis[0] != 0) {
    return Refuse("another lookup");
  }
  if (table.kind != Value::Kind::kInvariant) {
    return ReadOfOwner(node, table, number);
  }
  if (is_variable || is_computed) {
    return ReadRows(node, table, number, is_variable);
  }
  return ReadElements(node, table, number, /*is_zero_outside=*/false);
}

absl::Status BlockGraphReader::ReadGatherNd(const tf::Node& node) {
  Value table;
  Value number;
  TF_RETURN_IF_ERROR(Input(node, 0, &table));
  TF_RETURN_IF_ERROR(Input(node, 1, &number));
  TakeAsInvariant(&table);
  if (number.kind == Value::Kind::kNumbers) {
    return ReadElementAt(node, table, number);
  }
  if (table.kind != Value::Kind::kInvariant ||
      number.kind != Value::Kind::kNumber || number.shape != Shape{1}) {
    return Refuse("another lookup");
  }
  std::string policy;
  const bool has_policy =
      tf::TryGetNodeAttr(node.attrs(), "bad_indices_policy", &policy);
  number.shape.clear();
  return ReadElements(node, table, number, has_policy && policy == "IGNORE");
}

absl::Status BlockGraphReader::ReadWantedIds(const tf::Node& node) {
  Value ids;
  TF_RETURN_IF_ERROR(Input(node, 0, &ids));
  Value wanted;
  TF_RETURN_IF_ERROR(Input(node, 1, &wanted));
  Value table;
  TF_RETURN_IF_ERROR(Input(node, 2, &table));
  TakeAsInvariant(&table);
  if (ids.kind != Value::Kind::kNumber || ids.shape != Shape{1} ||
      table.kind != Value::Kind::kInvariant || table.shape.empty()) {
    return Refuse("another lookup");
  }
  RowNumber checked = {NumberOp::kInside, ids.dtype, table.id, {ids.id, 0}};
  TF_RETURN_IF_ERROR(AsNumber(wanted, &checked.operands[1]));
  ids.id = AddNumber(std::move(checked));
  return Set(node, 0, ids);
}

absl::Status BlockGraphReader::ReadElements(const tf::Node& node,
                                            const Value& table,
                                            const Value& number,
                                            bool is_zero_outside) {
  if (!IsWholeNumber(table.dtype)) {
    if (is_zero_outside) return Refuse("rows that may lack");
    return ReadRows(node, table, number, /*is_variable=*/false);
  }
  if (table.shape.empty()) return Refuse("no rows");
  const Shape row(table.shape.begin() + 1, table.shape.end());
  RowNumber element = {NumberOp::kElement, table.dtype, table.id, {number.id}};
  element.is_zero_outside = is_zero_outside;
  std::vector<Value> each;
  TF_RETURN_IF_ERROR(AddColumns(std::move(element), SizeOf(row), &each));
  Shape shape = number.shape;
  shape.insert(shape.end(), row.begin(), row.end());
  return SetNumbers(node, 0, std::move(each), std::move(shape), table.dtype);
}

absl::Status BlockGraphReader::ReadRows(const tf::Node& node,
                                        const Value& table, const Value& number,
                                        bool is_variable) {
  Value rows;
  if (is_variable) {
    tf::DataType dtype = tf::DT_FLOAT;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "dtype", &dtype));
    if (dtype != block_.dtype) return Refuse("another dtype");
  } else if (table.dtype != block_.dtype) {
    return Refuse("another dtype");
  }
  // That of the variable, as it was when the shapes were found.
  if (table.shape.empty()) return Refuse("no rows");
  rows.shape = number.shape;
  rows.shape.insert(rows.shape.end(), table.shape.begin() + 1,
                    table.shape.end());
  rows.dtype = block_.dtype;
  const int64_t width = SizeOf(rows.shape);
  const auto lookup = static_cast<int32_t>(block_.lookups.size());
  if (number.kind == Value::Kind::kWholeRows) {
    rows.id = block_.graph.LookUp(number.id, lookup, width);
    block_.lookups.push_back(
        {table.id, RowLookup::kComputed, is_variable, width});
    return Set(node, 0, rows);
  }
  BlockInput input;
  input.lookup = lookup;
  rows.id = AddInput(input, width, block_.numbers[number.id].axis);
  block_.lookups.push_back({table.id, number.id, is_variable, width});
  return Set(node, 0, rows);
}

}  // namespace recursive_tf
