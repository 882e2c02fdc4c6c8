// Reads the ops that compute with the shapes of rows, which are known.

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BlockGraphReader::ReadShape(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind != Value::Kind::kRows && !value.is_numbers()) {
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

}  // namespace recursive_tf
