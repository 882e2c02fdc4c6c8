#include <algorithm>
#include <cstddef>
#include <cstdint>
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

absl::Status BlockGraphReader::ReadSplit(const tf::Node& node) {
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, 0, &axis));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 1, &value));
  if (!IsFirstAxis(axis[0], value.shape)) return Refuse("another axis");
  const int64_t width = SizeOf(value.shape) / node.num_outputs();
  Value part = value;
  part.shape[0] /= node.num_outputs();
  for (int i = 0; i < node.num_outputs(); ++i) {
    part.id = block_.graph.Slice(value.id, i * width, width);
    TF_RETURN_IF_ERROR(Set(node, i, part));
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
  const int64_t step = SizeOf(value.shape) / value.shape[0];
  const int64_t count = size[1] < 0 ? value.shape[0] - begin[1] : size[1];
  value.shape[0] = count;
  value.id = block_.graph.Slice(value.id, begin[1] * step, count * step);
  return Set(node, 0, value);
}

}  // namespace recursive_tf
