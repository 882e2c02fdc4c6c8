#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
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

// Only the shape of a row may change, which is nothing to columns.
absl::Status BlockGraphReader::ReadReshape(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind == Value::Kind::kNumber && node.type_string() != "Squeeze") {
    return ReshapeNumber(node, value);
  }
  if (value.kind == Value::Kind::kShape && node.type_string() == "Reshape") {
    return ReshapeShape(node, value);
  }
  // What is the same in all columns is so in any shape.
  if (value.kind != Value::Kind::kRows)
    return Refuse("an input that is no rows");
  Shape shape;
  const int64_t size = SizeOf(value.shape);
  if (node.type_string() == "Reshape") {
    TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
    if (shape.empty() || shape.front() != -1) return Refuse("another shape");
    shape.erase(shape.begin());
  } else if (node.type_string() == "ExpandDims") {
    Shape axes;
    TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
    const auto rank = static_cast<int64_t>(value.shape.size()) + 2;
    const int64_t axis = axes[0] < 0 ? axes[0] + rank : axes[0];
    if (axis < 1 || axis >= rank) return Refuse("another axis");
    shape = value.shape;
    shape.insert(shape.begin() + axis - 1, 1);
  } else {
    std::vector<int32_t> axes;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "squeeze_dims", &axes));
    if (axes.empty()) return Refuse("all axes");
    const auto rank = static_cast<int64_t>(value.shape.size()) + 1;
    for (size_t i = 0; i < value.shape.size(); ++i) {
      const auto axis = static_cast<int32_t>(i) + 1;
      const bool goes = std::any_of(
          axes.begin(), axes.end(),
          [&](int32_t each) { return each == axis || each + rank == axis; });
      if (!goes) shape.push_back(value.shape[i]);
    }
  }
  if (SizeOf(shape) != size ||
      std::any_of(shape.begin(), shape.end(),
                  [](int64_t each) { return each < 0; })) {
    return Refuse("another shape");
  }
  value.shape = shape;
  return Set(node, 0, value);
}

int64_t BlockGraphReader::OuterAxis(int64_t axis, const Shape& row) {
  const auto rank = static_cast<int64_t>(row.size());
  const int64_t found = axis < 0 ? axis + rank : axis - 1;
  if (found < 0 || found >= rank) return -1;
  const auto is_one = [](int64_t size) { return size == 1; };
  return std::all_of(row.begin(), row.begin() + found, is_one) ? found : -1;
}

absl::Status BlockGraphReader::ReadConcat(const tf::Node& node) {
  const int num_values = node.num_inputs() - 1;
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, num_values, &axis));
  std::vector<int32_t> ids;
  Value joined;
  for (int i = 0; i < num_values; ++i) {
    Value value;
    TF_RETURN_IF_ERROR(Rows(node, i, &value));
    const int64_t along = OuterAxis(axis[0], value.shape);
    if (along < 0) return Refuse("another axis");
    ids.push_back(value.id);
    if (i == 0) {
      joined = value;
    } else {
      joined.shape[along] += value.shape[along];
    }
  }
  joined.id = block_.graph.Concat(ids);
  return Set(node, 0, joined);
}

// Rows stand side by side: along an axis of a row that is new.
absl::Status BlockGraphReader::ReadPack(const tf::Node& node) {
  int32_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  std::vector<int32_t> ids;
  Value packed;
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Input(node, i, &packed));
    if (packed.kind == Value::Kind::kShape) return PackShape(node);
  }
  if (packed.kind == Value::Kind::kNumber) {
    packed.shape.push_back(1);
    const bool is_one = node.num_inputs() == 1 && axis != 0;
    return is_one ? Set(node, 0, packed) : Refuse("several whole numbers");
  }
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Rows(node, i, &packed));
    ids.push_back(packed.id);
  }
  const auto rank = static_cast<int64_t>(packed.shape.size()) + 2;
  const int64_t along = (axis < 0 ? axis + rank : axis) - 1;
  if (along < 0) return Refuse("another axis");
  packed.shape.insert(packed.shape.begin() + along, node.num_inputs());
  if (OuterAxis(along + 1, packed.shape) < 0) return Refuse("another axis");
  packed.id = block_.graph.Concat(ids);
  return Set(node, 0, packed);
}

BlockGraphReader::Value BlockGraphReader::PartOf(Value value, int64_t along,
                                                 int64_t begin, int64_t count) {
  const int64_t step = SizeOf(value.shape) / value.shape[along];
  value.shape[along] = count;
  value.id = block_.graph.Slice(value.id, begin * step, count * step);
  return value;
}

absl::Status BlockGraphReader::ReadUnpack(const tf::Node& node) {
  int32_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  const int64_t along = OuterAxis(axis, value.shape);
  if (along < 0) return Refuse("another axis");
  for (int i = 0; i < node.num_outputs(); ++i) {
    Value part = PartOf(value, along, i, 1);
    part.shape.erase(part.shape.begin() + along);
    TF_RETURN_IF_ERROR(Set(node, i, part));
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadSplit(const tf::Node& node) {
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, 0, &axis));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 1, &value));
  const int64_t along = OuterAxis(axis[0], value.shape);
  if (along < 0) return Refuse("another axis");
  const int64_t count = value.shape[along] / node.num_outputs();
  for (int i = 0; i < node.num_outputs(); ++i) {
    TF_RETURN_IF_ERROR(Set(node, i, PartOf(value, along, i * count, count)));
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadSplitV(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape sizes;
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, 1, &sizes));
  TF_RETURN_IF_ERROR(Integers(node, 2, &axis));
  const int64_t along = OuterAxis(axis[0], value.shape);
  if (along < 0) return Refuse("another axis");
  // One of the sizes may be what is left.
  const int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  int64_t begin = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const int64_t count =
        sizes[i] < 0 ? value.shape[along] - all - 1 : sizes[i];
    TF_RETURN_IF_ERROR(Set(node, i, PartOf(value, along, begin, count)));
    begin += count;
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadSlice(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape begin;
  Shape size;
  TF_RETURN_IF_ERROR(Integers(node, 1, &begin));
  TF_RETURN_IF_ERROR(Integers(node, 2, &size));
  if (begin.empty() || begin[0] != 0 || size[0] != -1) {
    return Refuse("some of the rows");
  }
  std::vector<Range> ranges;
  for (size_t i = 1; i < begin.size(); ++i) {
    const int64_t all = value.shape[i - 1];
    ranges.push_back({begin[i], size[i] < 0 ? all : begin[i] + size[i]});
  }
  TF_RETURN_IF_ERROR(TakeRanges(ranges, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::TakeRanges(const std::vector<Range>& ranges,
                                          Value* value) {
  int64_t axis = 0;
  for (const Range& range : ranges) {
    if (range.is_new) continue;
    const int64_t size = value->shape[axis++];
    if (range.begin == 0 && range.end == size) continue;
    const int64_t along = OuterAxis(axis, value->shape);
    if (along < 0) return Refuse("another axis");
    *value = PartOf(*value, along, range.begin, range.end - range.begin);
  }
  return absl::OkStatus();
}

// Zeros stand on both sides of rows.
absl::Status BlockGraphReader::ReadPad(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape paddings;
  TF_RETURN_IF_ERROR(Integers(node, 1, &paddings));
  if (paddings[0] != 0 || paddings[1] != 0) return Refuse("more rows");
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const int64_t before = paddings[2 * i + 2];
    const int64_t after = paddings[2 * i + 3];
    if (before == 0 && after == 0) continue;
    const int64_t along = OuterAxis(static_cast<int64_t>(i) + 1, value.shape);
    if (along < 0) return Refuse("another axis");
    const int64_t step = SizeOf(value.shape) / value.shape[along];
    std::vector<int32_t> parts;
    BlockGraph& graph = block_.graph;
    if (before > 0) parts.push_back(graph.Constant(0, before * step));
    parts.push_back(value.id);
    if (after > 0) parts.push_back(graph.Constant(0, after * step));
    value.id = graph.Concat(parts);
    value.shape[along] += before + after;
  }
  return Set(node, 0, value);
}

// Rows of one column stand for rows with it again and again.
absl::Status BlockGraphReader::ReadBroadcast(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  const size_t rank = value.shape.size() + 1;
  if (value.kind != Value::Kind::kRows || SizeOf(value.shape) != 1 ||
      shape.size() != rank || shape.front() != -1) {
    return Refuse("another shape");
  }
  shape.erase(shape.begin());
  value.shape = std::move(shape);
  return Set(node, 0, value);
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

// Sets the range of each axis that a StridedSlice takes, all of them if it says
// nothing of one.
absl::Status BlockGraphReader::RangesOf(const tf::Node& node,
                                        const Shape& shape,
                                        std::vector<Range>* ranges) const {
  Shape begin;
  Shape end;
  Shape strides;
  TF_RETURN_IF_ERROR(Integers(node, 1, &begin));
  TF_RETURN_IF_ERROR(Integers(node, 2, &end));
  TF_RETURN_IF_ERROR(Integers(node, 3, &strides));
  std::map<std::string, std::bitset<32>> masks;
  for (const char* name : {"begin_mask", "end_mask", "ellipsis_mask",
                           "new_axis_mask", "shrink_axis_mask"}) {
    int32_t mask = 0;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), name, &mask));
    masks[name] = static_cast<uint32_t>(mask);
  }
  const auto is_in = [&](const char* name, size_t i) {
    return masks[name].test(i);
  };
  const size_t num_new = masks["new_axis_mask"].count();
  size_t axis = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (is_in("ellipsis_mask", i)) {
      // All axes that nothing else is said of.
      const size_t num_said = begin.size() - num_new - 1;
      const size_t last = axis + (shape.size() - num_said);
      for (; axis < last; ++axis) ranges->push_back({0, shape[axis]});
      continue;
    }
    Range& range = ranges->emplace_back();
    range.is_new = is_in("new_axis_mask", i);
    if (range.is_new) continue;
    if (strides[i] != 1) return Refuse("a stride");
    const int64_t size = shape[axis++];
    const auto place = [size](int64_t index) {
      return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
    };
    range.is_one = is_in("shrink_axis_mask", i);
    range.end = size;
    if (!is_in("begin_mask", i) || range.is_one) range.begin = place(begin[i]);
    if (!is_in("end_mask", i)) range.end = place(end[i]);
    if (range.is_one) range.end = range.begin + 1;
    if (range.end > size) return Refuse("a column that is not there");
    if (range.end <= range.begin) return Refuse("no columns");
  }
  for (; axis < shape.size(); ++axis) ranges->push_back({0, shape[axis]});
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadStridedSlice(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind == Value::Kind::kShape) return SliceShape(node);
  if (value.kind == Value::Kind::kNumber) return SliceNumber(node, value);
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  // How many rows there are is not known, but that there are some.
  constexpr int64_t kManyRows = std::numeric_limits<int64_t>::max();
  Shape shape = value.shape;
  shape.insert(shape.begin(), kManyRows);
  std::vector<Range> ranges;
  TF_RETURN_IF_ERROR(RangesOf(node, shape, &ranges));
  const Range rows = ranges.front();
  if (rows.is_new || rows.begin != 0 || rows.end != kManyRows) {
    return Refuse("some of the rows");
  }
  ranges.erase(ranges.begin());
  TF_RETURN_IF_ERROR(TakeRanges(ranges, &value));
  Shape kept;
  size_t axis = 0;
  for (const Range& range : ranges) {
    if (!range.is_one) kept.push_back(range.is_new ? 1 : value.shape[axis]);
    if (!range.is_new) ++axis;
  }
  value.shape = std::move(kept);
  return Set(node, 0, value);
}

}  // namespace recursive_tf
