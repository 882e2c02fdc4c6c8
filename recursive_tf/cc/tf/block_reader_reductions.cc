// Reads sums and the like along axes of rows, or over all rows.

#include <algorithm>
#include <cstddef>
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

Opcode OpcodeOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMax:
      return Opcode::kMax;
    case Reduction::kMin:
      return Opcode::kMin;
    default:
      return Opcode::kAdd;
  }
}

}  // namespace

bool BlockGraphReader::IsReduction(const tf::Node& node) {
  return Reductions().count(node.type_string()) > 0;
}

absl::Status BlockGraphReader::ReadReduction(const tf::Node& node) {
  const Reduction reduction = Reductions().at(node.type_string());
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  const bool are_whole = TakeWholeRows(&value);
  TF_RETURN_IF_ERROR(AsRows(&value));
  const int64_t size = SizeOf(value.shape);
  Shape axes;
  TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
  bool keeps = false;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "keep_dims", &keeps));
  const auto rank = static_cast<int64_t>(value.shape.size()) + 1;
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::vector<bool> is_reduced(rank, false);
  for (const int64_t axis : axes) is_reduced[axis] = true;
  const bool is_over_rows = is_reduced.front();
  is_reduced.erase(is_reduced.begin());
  if (is_over_rows && reduction != Reduction::kSum) return Refuse("all rows");
  TF_RETURN_IF_ERROR(ReduceAxes(reduction, is_reduced, &value));
  if (is_over_rows) {
    FillColumns(&value);
    value.kind = Value::Kind::kSum;
    value.id = block_.graph.ColumnSums(value.id);
    value.shape.insert(value.shape.begin(), 1);
    is_reduced.insert(is_reduced.begin(), true);
  }
  if (!keeps) {
    Shape kept;
    for (size_t i = 0; i < value.shape.size(); ++i) {
      if (!is_reduced[i]) kept.push_back(value.shape[i]);
    }
    value.shape = std::move(kept);
  }
  if (!are_whole) return Set(node, 0, value);
  const bool adds = reduction == Reduction::kSum;
  if (is_over_rows || reduction == Reduction::kMean) {
    return Refuse(kComputedNumbers);
  }
  return SetWholeRows(node, value, adds ? size * value.most : value.most);
}

// Axes at the end, which are reduced or are not, are those of pieces; then
// pieces are reduced.
absl::Status BlockGraphReader::ReduceAxes(Reduction reduction,
                                          const std::vector<bool>& is_reduced,
                                          Value* value) {
  const Shape from = value->shape;
  Shape& shape = value->shape;
  for (size_t i = 0; i < from.size(); ++i) {
    if (is_reduced[i]) shape[i] = 1;
  }
  const int64_t size = SizeOf(from) / SizeOf(shape);
  if (size == 1) return absl::OkStatus();
  size_t cut = from.size();
  bool reduces_last = false;
  for (bool is_first = true; cut > 0; --cut) {
    if (from[cut - 1] == 1) continue;
    if (is_first) reduces_last = is_reduced[cut - 1];
    if (is_reduced[cut - 1] != reduces_last) break;
    is_first = false;
  }
  const Shape outer(from.begin(), from.begin() + static_cast<int64_t>(cut));
  const Shape kept(shape.begin(), shape.begin() + static_cast<int64_t>(cut));
  std::vector<int32_t> pieces;
  TF_RETURN_IF_ERROR(Pieces(value->id, SizeOf(outer), &pieces));
  BlockGraph& graph = block_.graph;
  if (reduces_last) {
    const bool is_all = SizeOf(kept) == SizeOf(outer);
    const bool adds = reduction == Reduction::kMean && !is_all;
    for (int32_t& piece : pieces) {
      piece = graph.Reduce(adds ? Reduction::kSum : reduction, piece);
    }
    if (is_all) {
      value->id = graph.Concat(pieces);
      return absl::OkStatus();
    }
  }
  std::vector<int32_t> reduced(SizeOf(kept), -1);
  const std::vector<int64_t> targets = ColumnsModulo(outer, kept);
  for (size_t i = 0; i < pieces.size(); ++i) {
    int32_t& target = reduced[targets[i]];
    target = target < 0
                 ? pieces[i]
                 : graph.Elementwise(OpcodeOf(reduction), {target, pieces[i]});
  }
  if (reduction == Reduction::kMean) {
    const int32_t count = graph.Constant(static_cast<double>(size));
    for (int32_t& target : reduced) {
      target = graph.Elementwise(Opcode::kDiv, {target, count});
    }
  }
  value->id = graph.Concat(reduced);
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadCumsum(const tf::Node& node) {
  Value value;
  int64_t along = 0;
  TF_RETURN_IF_ERROR(RowsAlong(node, 0, 1, &value, &along));
  bool is_exclusive = false;
  bool is_reverse = false;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "exclusive", &is_exclusive));
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "reverse", &is_reverse));
  const int64_t count = value.shape[along];
  const int64_t num_pieces =
      SizeOf(Shape(value.shape.begin(), value.shape.begin() + along + 1));
  std::vector<int32_t> pieces;
  TF_RETURN_IF_ERROR(Pieces(value.id, num_pieces, &pieces));
  BlockGraph& graph = block_.graph;
  const int32_t zero = graph.Constant(0, graph[pieces.front()].width);
  for (int64_t first = 0; first < num_pieces; first += count) {
    int32_t sum = -1;
    for (int64_t i = 0; i < count; ++i) {
      int32_t& piece = pieces[is_reverse ? first + count - 1 - i : first + i];
      const int32_t before = sum < 0 ? zero : sum;
      sum = sum < 0 ? piece : graph.Elementwise(Opcode::kAdd, {sum, piece});
      piece = is_exclusive ? before : sum;
    }
  }
  value.id = graph.Concat(pieces);
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadBiasAddGrad(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  std::string format;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "data_format", &format));
  if (format != "NHWC" || value.shape.empty()) return Refuse("another axis");
  std::vector<bool> is_reduced(value.shape.size(), true);
  is_reduced.back() = false;
  TF_RETURN_IF_ERROR(ReduceAxes(Reduction::kSum, is_reduced, &value));
  value.kind = Value::Kind::kSum;
  value.shape = {value.shape.back()};
  value.id = block_.graph.ColumnSums(value.id);
  return Set(node, 0, value);
}

}  // namespace recursive_tf
