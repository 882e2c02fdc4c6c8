// Takes rows of several axes apart: instructions know of one axis alone, so
// each piece has instructions of its own.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BlockGraphReader::RefusePieces() {
  return Refuse(absl::StrCat("rows in more than ", kMostPieces, " pieces"));
}

absl::Status BlockGraphReader::Pieces(int32_t id, int64_t count,
                                      std::vector<int32_t>* pieces) {
  if (count > kMostPieces) return RefusePieces();
  BlockGraph& graph = block_.graph;
  const int64_t width = graph[id].width / count;
  for (int64_t i = 0; i < count; ++i) {
    pieces->push_back(graph.Slice(id, i * width, width));
  }
  return absl::OkStatus();
}

// The shape that operands have together, each of whose sizes is theirs or 1.
absl::Status BlockGraphReader::BroadcastShape(std::vector<Value>* operands,
                                              Shape* shape) {
  size_t rank = 0;
  bool has_rows = false;
  for (const Value& operand : *operands) {
    if (operand.kind != Value::Kind::kRows) continue;
    if (has_rows && operand.shape.size() != rank) {
      return Refuse("rows of two ranks");
    }
    rank = operand.shape.size();
    has_rows = true;
  }
  if (!has_rows) return Refuse("no rows");
  shape->assign(rank, 1);
  for (Value& operand : *operands) {
    Shape& sizes = operand.shape;
    // What is the same for all rows may have an axis for them.
    if (sizes.size() == rank + 1 && sizes.front() == 1) {
      sizes.erase(sizes.begin());
    }
    if (sizes.size() > rank) return Refuse("other numbers for each row");
    sizes.insert(sizes.begin(), rank - sizes.size(), 1);
    for (size_t axis = 0; axis < rank; ++axis) {
      if (sizes[axis] == 1) continue;
      if ((*shape)[axis] != 1 && (*shape)[axis] != sizes[axis]) {
        return Refuse("two shapes");
      }
      (*shape)[axis] = sizes[axis];
    }
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::Elementwise(Opcode opcode,
                                           std::vector<Value> operands,
                                           Value* value) {
  Shape shape;
  TF_RETURN_IF_ERROR(BroadcastShape(&operands, &shape));
  BlockGraph& graph = block_.graph;
  std::vector<int32_t> ids(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    TF_RETURN_IF_ERROR(AsAnyOperand(operands[i], shape, &ids[i]));
  }
  const size_t axis = AxisOfPieces(operands, ids, shape);
  const Shape outer(shape.begin(), shape.begin() + axis);
  if (SizeOf(outer) > kMostPieces) return RefusePieces();
  std::vector<std::vector<int32_t>> read(SizeOf(outer));
  for (size_t i = 0; i < operands.size(); ++i) {
    AddPieces(operands[i].shape, ids[i], outer, &read);
  }
  std::vector<int32_t> pieces;
  for (const std::vector<int32_t>& of_piece : read) {
    pieces.push_back(graph.Elementwise(opcode, of_piece));
    // One column stands for all only if there is one piece.
    const int64_t width = SizeOf(shape) / SizeOf(outer);
    if (SizeOf(outer) > 1 && graph[pieces.back()].width != width) {
      pieces.back() = graph.Elementwise(
          Opcode::kMul, {pieces.back(), graph.Constant(1, width)});
    }
  }
  value->id = graph.Concat(pieces);
  value->shape = std::move(shape);
  value->dtype = block_.dtype;
  return absl::OkStatus();
}

// Returns before which axis rows are cut, so that in each piece an operand has
// all columns, or one that stands for all.
size_t BlockGraphReader::AxisOfPieces(const std::vector<Value>& operands,
                                      const std::vector<int32_t>& ids,
                                      const Shape& shape) const {
  size_t axis = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& sizes = operands[i].shape;
    const int64_t width = block_.graph[ids[i]].width;
    // One that has all columns, if only by repeating them.
    if (width == 1 || width == SizeOf(shape)) continue;
    size_t first = shape.size();
    while (first > 0 && sizes[first - 1] == shape[first - 1]) --first;
    if (first == shape.size()) {
      while (first > 0 && sizes[first - 1] == 1) --first;
    }
    axis = std::max(axis, first);
  }
  if (axis > 0 || shape.size() < 2) return axis;
  // What is in pieces stays so.
  for (const int32_t id : ids) {
    const Node& node = block_.graph[id];
    if (node.kind != NodeKind::kConcat ||
        static_cast<int64_t>(node.operands.size()) > kMostPieces) {
      continue;
    }
    const int64_t width = block_.graph[node.operands.front()].width;
    const bool are_equal = std::all_of(
        node.operands.begin(), node.operands.end(),
        [&](int32_t part) { return block_.graph[part].width == width; });
    int64_t size = 1;
    size_t cut = shape.size();
    while (cut > 0 && size < width) size *= shape[--cut];
    if (are_equal && size == width) return cut;
  }
  return 0;
}

void BlockGraphReader::AddPieces(const Shape& sizes, int32_t id,
                                 const Shape& outer,
                                 std::vector<std::vector<int32_t>>* read) {
  BlockGraph& graph = block_.graph;
  const int64_t all = graph[id].width;
  // Of what repeats itself all columns are there.
  const Shape own = all == SizeOf(sizes)
                        ? Shape(sizes.begin(), sizes.begin() + outer.size())
                        : outer;
  const std::vector<int64_t> places = ColumnsModulo(outer, own);
  const int64_t width = all / SizeOf(own);
  for (size_t i = 0; i < places.size(); ++i) {
    const int32_t piece =
        all == 1 ? id : graph.Slice(id, places[i] * width, width);
    (*read)[i].push_back(piece);
  }
}

absl::Status BlockGraphReader::AsOperand(const Value& value, const Shape& shape,
                                         int32_t* id) {
  TF_RETURN_IF_ERROR(AsAnyOperand(value, shape, id));
  const int64_t width = block_.graph[*id].width;
  return width == 1 || width == SizeOf(shape) ? absl::OkStatus()
                                              : Refuse("a part of each row");
}

absl::Status BlockGraphReader::AsAnyOperand(const Value& value,
                                            const Shape& shape, int32_t* id) {
  const bool is_bool =
      value.dtype == tf::DT_BOOL &&
      (value.kind == Value::Kind::kRows || value.kind == Value::Kind::kLiteral);
  if (value.dtype != block_.dtype && !is_bool) return Refuse("another dtype");
  const int64_t size = SizeOf(value.shape);
  // What is smaller, but the same at the end, repeats itself.
  const int64_t width = Repeats(value.shape, shape) ? SizeOf(shape) : size;
  switch (value.kind) {
    case Value::Kind::kRows:
      *id = value.id;
      return absl::OkStatus();
    case Value::Kind::kInvariant:
      *id = block_.graph.Shared(value.id, size == 1 ? 1 : width);
      return absl::OkStatus();
    case Value::Kind::kLiteral: {
      const tf::Tensor& tensor = literals_[value.id];
      if (size == 1) {
        *id = block_.graph.Constant(NumberOf(tensor));
        return absl::OkStatus();
      }
      if (is_bool) return Refuse("several bools that all rows share");
      Value taken = value;
      TakeAsInvariant(&taken);
      *id = block_.graph.Shared(taken.id, width);
      return absl::OkStatus();
    }
    default:
      return Refuse("no numbers");
  }
}

bool BlockGraphReader::Repeats(Shape part, const Shape& shape) {
  if (part.size() > shape.size() + 1) return false;
  while (!part.empty() && part.front() == 1) part.erase(part.begin());
  return part.size() <= shape.size() &&
         std::equal(part.rbegin(), part.rend(), shape.rbegin());
}

}  // namespace recursive_tf
