#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
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
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
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

bool BlockGraphReader::IsFirstAxis(int64_t axis, const Shape& row) {
  const auto rank = static_cast<int64_t>(row.size()) + 1;
  return !row.empty() && (axis == 1 || axis + rank == 1);
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
    if (!IsFirstAxis(axis[0], value.shape)) return Refuse("another axis");
    ids.push_back(value.id);
    if (i == 0) {
      joined = value;
    } else {
      joined.shape[0] += value.shape[0];
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
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Rows(node, i, &packed));
    ids.push_back(packed.id);
  }
  packed.shape.insert(packed.shape.begin(), node.num_inputs());
  if (!IsFirstAxis(axis, packed.shape)) return Refuse("another axis");
  packed.id = block_.graph.Concat(ids);
  return Set(node, 0, packed);
}

BlockGraphReader::Value BlockGraphReader::PartOf(Value value, int64_t begin,
                                                 int64_t count) {
  const int64_t step = SizeOf(value.shape) / value.shape[0];
  value.shape[0] = count;
  value.id = block_.graph.Slice(value.id, begin * step, count * step);
  return value;
}

absl::Status BlockGraphReader::ReadUnpack(const tf::Node& node) {
  int32_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  if (!IsFirstAxis(axis, value.shape)) return Refuse("another axis");
  for (int i = 0; i < node.num_outputs(); ++i) {
    Value part = PartOf(value, i, 1);
    part.shape.erase(part.shape.begin());
    TF_RETURN_IF_ERROR(Set(node, i, part));
  }
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadSplit(const tf::Node& node) {
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, 0, &axis));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 1, &value));
  if (!IsFirstAxis(axis[0], value.shape)) return Refuse("another axis");
  const int64_t count = value.shape[0] / node.num_outputs();
  for (int i = 0; i < node.num_outputs(); ++i) {
    TF_RETURN_IF_ERROR(Set(node, i, PartOf(value, i * count, count)));
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
  if (!IsFirstAxis(axis[0], value.shape)) return Refuse("another axis");
  // One of the sizes may be what is left.
  const int64_t all = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  int64_t begin = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const int64_t count = sizes[i] < 0 ? value.shape[0] - all - 1 : sizes[i];
    TF_RETURN_IF_ERROR(Set(node, i, PartOf(value, begin, count)));
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
  if (begin.size() < 2 || begin[0] != 0 || size[0] != -1) {
    return Refuse("some of the rows");
  }
  for (size_t i = 2; i < begin.size(); ++i) {
    const int64_t all = value.shape[i - 1];
    if (begin[i] != 0 || (size[i] != -1 && size[i] != all)) {
      return Refuse("another axis");
    }
  }
  const int64_t count = size[1] < 0 ? value.shape[0] - begin[1] : size[1];
  return Set(node, 0, PartOf(value, begin[1], count));
}

// ---- The shapes of rows.

absl::Status BlockGraphReader::ReadShape(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind != Value::Kind::kRows && value.kind != Value::Kind::kNumber) {
    return Refuse("the shape of no rows");
  }
  Shape sizes = value.shape;
  sizes.insert(sizes.begin(), -1);
  return SetShape(node, std::move(sizes), /*is_one_size=*/false);
}

absl::Status BlockGraphReader::SetShape(const tf::Node& node, Shape sizes,
                                        bool is_one_size) {
  Value value;
  value.kind = Value::Kind::kShape;
  value.dtype = node.output_type(0);
  value.id = static_cast<int32_t>(shapes_.size());
  if (!is_one_size) value.shape = {static_cast<int64_t>(sizes.size())};
  shapes_.push_back(std::move(sizes));
  return Set(node, 0, value);
}

// One size of a shape.
absl::Status BlockGraphReader::SliceShape(const tf::Node& node) {
  Shape sizes;
  Shape begin;
  int32_t shrink_mask = 0;
  TF_RETURN_IF_ERROR(Integers(node, 0, &sizes));
  TF_RETURN_IF_ERROR(Integers(node, 1, &begin));
  TF_RETURN_IF_ERROR(
      tf::GetNodeAttr(node.attrs(), "shrink_axis_mask", &shrink_mask));
  const auto rank = static_cast<int64_t>(sizes.size());
  if (shrink_mask != 1 || begin.size() != 1) return Refuse("a part of a shape");
  const int64_t axis = begin[0] < 0 ? begin[0] + rank : begin[0];
  if (axis < 0 || axis >= rank) return Refuse("a part of a shape");
  return SetShape(node, {sizes[axis]}, /*is_one_size=*/true);
}

// One size alone, or a vector of it.
absl::Status BlockGraphReader::ReshapeShape(const tf::Node& node,
                                            const Value& value) {
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  const Shape& sizes = shapes_[value.id];
  if (sizes.size() != 1 || shape.size() > 1) return Refuse("several sizes");
  return SetShape(node, sizes, /*is_one_size=*/shape.empty());
}

absl::Status BlockGraphReader::PackShape(const tf::Node& node) {
  Shape sizes;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Value size;
    TF_RETURN_IF_ERROR(Input(node, i, &size));
    if (!size.shape.empty()) return Refuse("several shapes");
    TF_RETURN_IF_ERROR(Integers(node, i, &sizes));
  }
  return SetShape(node, std::move(sizes), /*is_one_size=*/false);
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
  for (const char* name :
       {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}) {
    int32_t mask = 0;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), name, &mask));
    if (mask != 0) return Refuse("another kind of slice");
  }
  int32_t begin_mask = 0;
  int32_t end_mask = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "begin_mask", &begin_mask));
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "end_mask", &end_mask));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    Range& range = ranges->emplace_back();
    range.end = shape[axis];
    if (axis >= begin.size()) continue;
    if (strides[axis] != 1) return Refuse("a stride");
    const auto place = [&](int64_t index) {
      const int64_t from_front = index < 0 ? index + shape[axis] : index;
      return std::clamp<int64_t>(from_front, 0, shape[axis]);
    };
    const auto is_in = [axis](int32_t mask) {
      return std::bitset<32>(static_cast<uint32_t>(mask)).test(axis);
    };
    if (!is_in(begin_mask)) range.begin = place(begin[axis]);
    if (!is_in(end_mask)) range.end = place(end[axis]);
    if (range.end <= range.begin) return Refuse("no columns");
  }
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
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_whole =
        ranges[axis].begin == 0 && ranges[axis].end == shape[axis];
    if (axis != 1 && !is_whole) {
      return Refuse(axis == 0 ? "some of the rows" : "another axis");
    }
  }
  if (value.shape.empty()) return Set(node, 0, value);
  const auto [first, last] = ranges[1];
  return Set(node, 0, PartOf(value, first, last - first));
}

}  // namespace recursive_tf
