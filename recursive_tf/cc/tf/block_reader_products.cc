#include <algorithm>
#include <cstddef>
#include <cstdint>
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

absl::Status BlockGraphReader::ReadMatMul(const tf::Node& node) {
  bool transposes_left = false;
  bool transposes_right = false;
  TF_RETURN_IF_ERROR(
      tf::GetNodeAttr(node.attrs(), "transpose_a", &transposes_left));
  TF_RETURN_IF_ERROR(
      tf::GetNodeAttr(node.attrs(), "transpose_b", &transposes_right));
  Value left;
  std::vector<int32_t> lefts;
  TF_RETURN_IF_ERROR(FoldedRows(node, 0, &left, &lefts));
  if (left.shape.size() != 1) return Refuse("another shape");
  BlockGraph& graph = block_.graph;
  Value right;
  if (transposes_left) {
    std::vector<int32_t> rights;
    TF_RETURN_IF_ERROR(FoldedRows(node, 1, &right, &rights));
    if (transposes_right || right.shape.size() != 1 ||
        rights.size() != lefts.size()) {
      return Refuse("another shape");
    }
    Value sum;
    sum.kind = Value::Kind::kSum;
    sum.shape = {left.shape[0], right.shape[0]};
    sum.dtype = block_.dtype;
    std::vector<int32_t> sums;
    for (size_t i = 0; i < lefts.size(); ++i) {
      sums.push_back(graph.Outer(lefts[i], rights[i]));
    }
    sum.id = sums.size() == 1 ? sums.front() : graph.AddSums(sums);
    return Set(node, 0, sum);
  }
  TF_RETURN_IF_ERROR(Input(node, 1, &right));
  TakeAsInvariant(&right);
  if (right.kind != Value::Kind::kInvariant || right.shape.size() != 2 ||
      right.dtype != block_.dtype) {
    return Refuse("no matrix that is the same for all rows");
  }
  const int64_t depth = right.shape[transposes_right ? 1 : 0];
  if (depth != left.shape[0] || depth == 0) return Refuse("another depth");
  Value product = left;
  product.shape = {right.shape[transposes_right ? 0 : 1]};
  for (int32_t& row : lefts) {
    row = graph.Product(row, right.id, transposes_right, product.shape[0]);
  }
  product.id = graph.Concat(lefts);
  return Set(node, 0, product);
}

absl::Status BlockGraphReader::FoldedRows(const tf::Node& node, int input,
                                          Value* value,
                                          std::vector<int32_t>* rows) {
  TF_RETURN_IF_ERROR(Input(node, input, value));
  if (!HasRows(*value)) return Refuse("an input that is no rows");
  FillColumns(value);
  return Pieces(value->id, value->num_folded, rows);
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
  const size_t rank = left.shape.size();
  if (rank < 2 || right.shape.size() != rank ||
      !std::equal(left.shape.begin(), left.shape.end() - 2,
                  right.shape.begin())) {
    return Refuse("another shape");
  }
  // Axes in front of the matrices.
  const Shape outer(left.shape.begin(), left.shape.end() - 2);
  left.shape.erase(left.shape.begin(), left.shape.end() - 2);
  right.shape.erase(right.shape.begin(), right.shape.end() - 2);
  RowProductShape shape;
  shape.num_rows = left.shape[transposes_left ? 1 : 0];
  shape.depth = left.shape[transposes_left ? 0 : 1];
  shape.num_columns = right.shape[transposes_right ? 0 : 1];
  if (shape.depth != right.shape[transposes_right ? 1 : 0]) {
    return Refuse("another depth");
  }
  Value product = left;
  product.shape = outer;
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
  std::vector<int32_t> lefts;
  std::vector<int32_t> rights;
  TF_RETURN_IF_ERROR(Pieces(left.id, SizeOf(outer), &lefts));
  TF_RETURN_IF_ERROR(Pieces(right.id, SizeOf(outer), &rights));
  for (size_t i = 0; i < lefts.size(); ++i) {
    lefts[i] = block_.graph.RowProduct(lefts[i], rights[i], shape);
  }
  product.id = block_.graph.Concat(lefts);
  return Set(node, 0, product);
}

}  // namespace recursive_tf
