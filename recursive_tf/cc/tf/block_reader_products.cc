#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

const std::map<std::string, Reduction>& Reductions() {
  static const auto* const ops = new std::map<std::string, Reduction>{
      {"All", Reduction::kMin}, {"Any", Reduction::kMax},
      {"Max", Reduction::kMax}, {"Mean", Reduction::kMean},
      {"Min", Reduction::kMin}, {"Sum", Reduction::kSum}};
  return *ops;
}

}  // namespace

bool BlockGraphReader::IsReduction(const tf::Node& node) {
  return Reductions().count(node.type_string()) > 0;
}

absl::Status BlockGraphReader::ReadMatMul(const tf::Node& node) {
  bool transposes_left = false;
  bool transposes_right = false;
  TF_RETURN_IF_ERROR(
      tf::GetNodeAttr(node.attrs(), "transpose_a", &transposes_left));
  TF_RETURN_IF_ERROR(
      tf::GetNodeAttr(node.attrs(), "transpose_b", &transposes_right));
  Value left;
  TF_RETURN_IF_ERROR(Rows(node, 0, &left));
  Value right;
  TF_RETURN_IF_ERROR(Input(node, 1, &right));
  if (left.shape.size() != 1 || right.dtype != block_.dtype) {
    return Refuse("another shape");
  }
  if (transposes_left) {
    TF_RETURN_IF_ERROR(Rows(node, 1, &right));
    if (transposes_right || right.shape.size() != 1) {
      return Refuse("another shape");
    }
    Value sum;
    sum.kind = Value::Kind::kSum;
    sum.shape = {left.shape[0], right.shape[0]};
    sum.dtype = block_.dtype;
    sum.id = block_.graph.Outer(left.id, right.id);
    return Set(node, 0, sum);
  }
  if (right.kind != Value::Kind::kInvariant || right.shape.size() != 2) {
    return Refuse("no matrix that is the same for all rows");
  }
  const int64_t depth = right.shape[transposes_right ? 1 : 0];
  if (depth != left.shape[0] || depth == 0) return Refuse("another depth");
  Value product = left;
  product.shape = {right.shape[transposes_right ? 0 : 1]};
  product.id = block_.graph.Product(left.id, right.id, transposes_right,
                                    product.shape[0]);
  return Set(node, 0, product);
}

// A matrix that stands column by column is the transpose of one that stands row
// by row. What has one row or column may be taken as either, and so may its
// product as the transpose of the product of transposes.
absl::Status BlockGraphReader::ReadBatchMatMul(const tf::Node& node) {
  bool transposes_left = false;
  bool transposes_right = false;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "adj_x", &transposes_left));
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "adj_y", &transposes_right));
  Value left;
  TF_RETURN_IF_ERROR(Rows(node, 0, &left));
  Value right;
  TF_RETURN_IF_ERROR(Rows(node, 1, &right));
  if (left.shape.size() != right.shape.size()) return Refuse("another shape");
  // Axes of one step in front of the matrices.
  Shape outer;
  while (left.shape.size() > 2 && left.shape.front() == 1 &&
         right.shape.front() == 1) {
    outer.push_back(1);
    left.shape.erase(left.shape.begin());
    right.shape.erase(right.shape.begin());
  }
  if (left.shape.size() != 2) return Refuse("another shape");
  RowProductShape shape;
  shape.num_rows = left.shape[transposes_left ? 1 : 0];
  shape.depth = left.shape[transposes_left ? 0 : 1];
  shape.num_columns = right.shape[transposes_right ? 0 : 1];
  if (shape.depth != right.shape[transposes_right ? 1 : 0]) {
    return Refuse("another depth");
  }
  Value product = left;
  product.shape = std::move(outer);
  product.shape.push_back(shape.num_rows);
  product.shape.push_back(shape.num_columns);
  const bool is_right_by_rows = !transposes_right || shape.depth == 1;
  if (transposes_left && shape.num_columns == 1) {
    // Its rows are added up: the other factor's numbers are theirs.
    std::swap(shape.num_rows, shape.num_columns);
    std::swap(left, right);
    shape.left_column = 1;
  } else if (is_right_by_rows && shape.num_columns > 1) {
    shape.left_row = transposes_left ? 1 : shape.depth;
    shape.left_column = transposes_left ? shape.num_rows : 1;
  } else if (!transposes_left || shape.num_rows == 1) {
    shape.left_row = shape.depth;
    shape.left_column = 1;
    shape.is_right_by_columns = true;
  } else {
    return Refuse("two transposed matrices");
  }
  product.id = block_.graph.RowProduct(left.id, right.id, shape);
  return Set(node, 0, product);
}

absl::Status BlockGraphReader::ReadReduction(const tf::Node& node) {
  const Reduction reduction = Reductions().at(node.type_string());
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape axes;
  TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
  bool keeps = false;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "keep_dims", &keeps));
  const auto rank = static_cast<int64_t>(value.shape.size()) + 1;
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  Value reduced = value;
  if (axes == Shape{0} && reduction == Reduction::kSum && !keeps) {
    reduced.kind = Value::Kind::kSum;
    reduced.id = block_.graph.ColumnSums(value.id);
    return Set(node, 0, reduced);
  }
  reduced.shape.clear();
  int64_t size_of_reduced = 1;
  int64_t size_of_kept = 1;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 1;
    const bool is_kept =
        std::find(axes.begin(), axes.end(), axis) == axes.end();
    (is_kept ? size_of_kept : size_of_reduced) *= value.shape[i];
    if (is_kept) reduced.shape.push_back(value.shape[i]);
    if (!is_kept && keeps) reduced.shape.push_back(1);
  }
  const bool is_over_rows =
      std::find(axes.begin(), axes.end(), 0) != axes.end();
  if (is_over_rows || (size_of_kept > 1 && size_of_reduced > 1)) {
    return Refuse("another axis");
  }
  if (size_of_reduced > 1) {
    reduced.id = block_.graph.Reduce(reduction, value.id);
  }
  return Set(node, 0, reduced);
}

absl::Status BlockGraphReader::ReadBiasAddGrad(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  std::string format;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "data_format", &format));
  if (format != "NHWC" || value.shape.empty() ||
      SizeOf(value.shape) != value.shape.back()) {
    return Refuse("another axis");
  }
  value.kind = Value::Kind::kSum;
  value.shape = {value.shape.back()};
  value.id = block_.graph.ColumnSums(value.id);
  return Set(node, 0, value);
}

}  // namespace recursive_tf
