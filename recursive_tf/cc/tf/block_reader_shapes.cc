// Reads the ops after which a row has another shape, and the same columns.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BlockGraphReader::ReadReshape(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  const bool is_reshape = node.type_string() == "Reshape";
  if (value.is_numbers() && node.type_string() != "Squeeze") {
    return ReshapeNumber(node, value);
  }
  if (value.kind == Value::Kind::kShape && is_reshape) {
    return ReshapeShape(node, value);
  }
  if (value.kind == Value::Kind::kSum && is_reshape) {
    TF_RETURN_IF_ERROR(ReshapeSum(node, &value));
    return Set(node, 0, value);
  }
  const bool are_whole = TakeWholeRows(&value);
  // What is the same in all columns is so in any shape.
  if (!HasRows(value)) return Refuse("an input that is no rows");
  Shape shape;
  if (is_reshape) {
    TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
    if (shape.empty() || shape.front() != -1) return Refuse("another shape");
    shape.erase(shape.begin());
  } else if (value.kind != Value::Kind::kRows) {
    return Refuse("several rows in one");
  } else if (node.type_string() == "ExpandDims") {
    TF_RETURN_IF_ERROR(ShapeExpanded(node, value.shape, &shape));
  } else {
    TF_RETURN_IF_ERROR(ShapeSqueezed(node, value.shape, &shape));
  }
  const int64_t all = SizeOf(value.shape) * value.num_folded;
  const int64_t size = SizeOf(shape);
  if (size <= 0 || all % size != 0 ||
      std::any_of(shape.begin(), shape.end(),
                  [](int64_t each) { return each < 0; })) {
    return Refuse("another shape");
  }
  value.shape = std::move(shape);
  Fold(all / size, &value);
  if (!are_whole) return Set(node, 0, value);
  if (value.kind != Value::Kind::kRows) return Refuse("several rows in one");
  return SetWholeRows(node, value, value.most);
}

void BlockGraphReader::Fold(int64_t num_folded, Value* value) {
  value->num_folded = num_folded;
  value->kind = num_folded == 1 ? Value::Kind::kRows : Value::Kind::kFolded;
}

absl::Status BlockGraphReader::ReshapeSum(const tf::Node& node,
                                          Value* sum) const {
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  if (SizeOf(shape) != SizeOf(sum->shape) ||
      std::any_of(shape.begin(), shape.end(),
                  [](int64_t each) { return each < 0; })) {
    return Refuse("another shape");
  }
  sum->shape = std::move(shape);
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ShapeExpanded(const tf::Node& node,
                                             const Shape& row,
                                             Shape* shape) const {
  Shape axes;
  TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
  const auto rank = static_cast<int64_t>(row.size()) + 2;
  const int64_t axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  if (axis < 1 || axis >= rank) return Refuse("another axis");
  *shape = row;
  shape->insert(shape->begin() + axis - 1, 1);
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ShapeSqueezed(const tf::Node& node,
                                             const Shape& row, Shape* shape) {
  std::vector<int32_t> axes;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "squeeze_dims", &axes));
  if (axes.empty()) return Refuse("all axes");
  const auto rank = static_cast<int64_t>(row.size()) + 1;
  for (size_t i = 0; i < row.size(); ++i) {
    const auto axis = static_cast<int32_t>(i) + 1;
    const bool goes = std::any_of(axes.begin(), axes.end(), [&](int32_t each) {
      return each == axis || each + rank == axis;
    });
    if (!goes) shape->push_back(row[i]);
  }
  return absl::OkStatus();
}

// The same number in all columns.
absl::Status BlockGraphReader::ReadFill(const tf::Node& node) {
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 0, &shape));
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 1, &value));
  if (shape.empty() || shape.front() != -1 ||
      value.kind != Value::Kind::kLiteral || value.dtype != block_.dtype) {
    return Refuse("no number for each row");
  }
  shape.erase(shape.begin());
  value.id =
      block_.graph.Constant(NumberOf(literals_[value.id]), SizeOf(shape));
  value.kind = Value::Kind::kRows;
  value.shape = std::move(shape);
  return Set(node, 0, value);
}

}  // namespace recursive_tf
