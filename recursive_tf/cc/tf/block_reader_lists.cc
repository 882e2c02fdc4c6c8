#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

// Items stand along an axis of their own.
absl::Status BlockGraphReader::ReadItems(const tf::Node& node) {
  Value lengths;
  TF_RETURN_IF_ERROR(Input(node, 0, &lengths));
  int32_t of = 0;
  TF_RETURN_IF_ERROR(AsNumber(lengths, &of));
  if (block_.numbers[of].axis < 0) return Refuse("as many items in all lists");
  const int32_t axis = block_.graph.AddAxis();
  Value items;
  items.kind = Value::Kind::kNumber;
  items.dtype = tf::DT_INT32;
  RowNumber number = {NumberOp::kOwner, items.dtype, -1, {of}};
  number.axis = axis;
  block_.graph.AddOwners(axis, block_.numbers[of].axis);
  items.id = AddNumber(number);
  block_.owners.push_back(items.id);
  TF_RETURN_IF_ERROR(Set(node, 0, items));
  number.op = NumberOp::kPosition;
  items.id = AddNumber(std::move(number));
  return Set(node, 1, items);
}

int32_t BlockGraphReader::OwnersOf(const Value& value) const {
  if (value.kind != Value::Kind::kNumber) return -1;
  const auto found =
      std::find(block_.owners.begin(), block_.owners.end(), value.id);
  return found == block_.owners.end()
             ? -1
             : static_cast<int32_t>(found - block_.owners.begin());
}

absl::Status BlockGraphReader::ReadOfOwner(const tf::Node& node, Value value,
                                           const Value& owner) {
  const int32_t index = OwnersOf(owner);
  if (index < 0 || !owner.shape.empty()) return Refuse("another lookup");
  const Owners& owners = block_.graph.owners()[index];
  if (value.is_numbers()) {
    std::vector<Value> each;
    TF_RETURN_IF_ERROR(Each(value, &each));
    for (Value& one : each) {
      if (one.kind != Value::Kind::kNumber) continue;
      block_.graph.JoinAxes(block_.numbers[one.id].axis, owners.rows);
      RowNumber number = {
          NumberOp::kOfOwner, one.dtype, -1, {one.id, owner.id}};
      number.axis = owners.items;
      one.id = AddNumber(std::move(number));
    }
    return SetNumbers(node, 0, std::move(each), value.shape, value.dtype);
  }
  if (value.kind != Value::Kind::kRows || block_.graph[value.id].axis < 0) {
    return Refuse("another lookup");
  }
  value.id = block_.graph.OfOwner(value.id, index);
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadOfItems(const tf::Node& node) {
  const std::string& type = node.type_string();
  Reduction reduction = Reduction::kSum;
  if (type == "UnsortedSegmentMax") reduction = Reduction::kMax;
  if (type == "UnsortedSegmentMin") reduction = Reduction::kMin;
  Value items;
  TF_RETURN_IF_ERROR(Rows(node, 0, &items));
  Value owner;
  TF_RETURN_IF_ERROR(Input(node, 1, &owner));
  Value num_rows;
  TF_RETURN_IF_ERROR(Input(node, 2, &num_rows));
  const int32_t index = OwnersOf(owner);
  if (index < 0 || num_rows.kind != Value::Kind::kShape ||
      block_.graph[items.id].axis < 0) {
    return Refuse("other segments than lists");
  }
  items.id = block_.graph.OfItems(reduction, items.id, index);
  return Set(node, 0, items);
}

}  // namespace recursive_tf
