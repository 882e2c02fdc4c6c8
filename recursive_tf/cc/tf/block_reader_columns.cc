// Reads the ops whose columns are columns of their inputs, in another order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
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

int64_t BlockGraphReader::ColumnAt(const Shape& shape, const Shape& index) {
  int64_t column = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    column = column * shape[axis] + index[axis];
  }
  return column;
}

std::vector<int64_t> BlockGraphReader::Columns(
    const Shape& shape, const std::function<int64_t(const Shape&)>& column_of) {
  std::vector<int64_t> columns;
  Shape index(shape.size(), 0);
  for (int64_t count = SizeOf(shape); count > 0; --count) {
    columns.push_back(column_of(index));
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return columns;
}

std::vector<int64_t> BlockGraphReader::ColumnsModulo(const Shape& shape,
                                                     const Shape& from) {
  return Columns(shape, [&from](Shape index) {
    for (size_t i = 0; i < from.size(); ++i) index[i] %= from[i];
    return ColumnAt(from, index);
  });
}

absl::Status BlockGraphReader::PickBy(
    Shape shape, const std::function<int64_t(const Shape&)>& column_of,
    Value* value) {
  const std::vector<int64_t> columns = Columns(shape, column_of);
  return Pick(columns, std::move(shape), value);
}

absl::Status BlockGraphReader::Pick(const std::vector<int64_t>& columns,
                                    Shape shape, Value* value) {
  BlockGraph& graph = block_.graph;
  value->shape = std::move(shape);
  const auto size = static_cast<int64_t>(columns.size());
  if (size == 0) return Refuse("no columns");
  const bool has_zeros =
      std::find(columns.begin(), columns.end(), kZero) != columns.end();
  // One column stands for all.
  if (graph[value->id].width == 1 && !has_zeros) return absl::OkStatus();
  std::vector<int32_t> pieces;
  for (int64_t begin = 0; begin < size;) {
    const int64_t first = columns[begin];
    const int64_t step = first == kZero ? 0 : 1;
    int64_t end = begin + 1;
    while (end < size && columns[end] == first + step * (end - begin)) ++end;
    if (pieces.size() == kMostPieces) return RefusePieces();
    pieces.push_back(first == kZero
                         ? graph.Constant(0, end - begin)
                         : graph.Slice(value->id, first, end - begin));
    begin = end;
  }
  value->id = graph.Concat(pieces);
  return absl::OkStatus();
}

absl::Status BlockGraphReader::RowsAlong(const tf::Node& node, int input,
                                         int axis_input, Value* value,
                                         int64_t* along) {
  TF_RETURN_IF_ERROR(Rows(node, input, value));
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, axis_input, &axis));
  return AxisInRow(axis[0], value->shape.size(), along);
}

absl::Status BlockGraphReader::AxisInRow(int64_t axis, size_t rank,
                                         int64_t* along) {
  const auto num_axes = static_cast<int64_t>(rank);
  *along = axis < 0 ? axis + num_axes : axis - 1;
  return *along >= 0 && *along < num_axes ? absl::OkStatus()
                                          : Refuse("another axis");
}

// Side by side, which is right if there is nothing in front of the axis.
absl::Status BlockGraphReader::Join(const std::vector<Value>& values,
                                    int64_t along, Value* joined) {
  // By step along the axis: the value's first column, and its first step.
  std::vector<int64_t> bases;
  std::vector<int64_t> firsts;
  std::vector<Shape> shapes;
  std::vector<int32_t> ids;
  int64_t base = 0;
  for (const Value& value : values) {
    const auto first = static_cast<int64_t>(bases.size());
    bases.resize(first + value.shape[along], base);
    firsts.resize(first + value.shape[along], first);
    shapes.resize(first + value.shape[along], value.shape);
    base += SizeOf(value.shape);
    ids.push_back(value.id);
  }
  *joined = values.front();
  joined->id = block_.graph.Concat(ids);
  Shape shape = joined->shape;
  shape[along] = static_cast<int64_t>(bases.size());
  return PickBy(
      std::move(shape),
      [&](Shape index) {
        const int64_t step = index[along];
        index[along] -= firsts[step];
        return bases[step] + ColumnAt(shapes[step], index);
      },
      joined);
}

absl::Status BlockGraphReader::ReadConcat(const tf::Node& node) {
  const int num_values = node.num_inputs() - 1;
  Shape axis;
  TF_RETURN_IF_ERROR(Integers(node, num_values, &axis));
  if (TakesNumbers(node)) return JoinNumbers(node, axis[0]);
  std::vector<Value> values(num_values);
  for (int i = 0; i < num_values; ++i) {
    TF_RETURN_IF_ERROR(Rows(node, i, &values[i]));
  }
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis[0], values[0].shape.size(), &along));
  Value joined;
  TF_RETURN_IF_ERROR(Join(values, along, &joined));
  return Set(node, 0, joined);
}

// Rows stand side by side: along an axis of a row that is new.
absl::Status BlockGraphReader::ReadPack(const tf::Node& node) {
  int32_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  Value packed;
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Input(node, i, &packed));
    if (packed.kind == Value::Kind::kShape) return PackShape(node);
  }
  if (packed.is_numbers()) return PackNumbers(node, axis);
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis, packed.shape.size() + 1, &along));
  std::vector<Value> values(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Rows(node, i, &values[i]));
    values[i].shape.insert(values[i].shape.begin() + along, 1);
  }
  TF_RETURN_IF_ERROR(Join(values, along, &packed));
  return Set(node, 0, packed);
}

// Zeros stand around rows.
absl::Status BlockGraphReader::ReadPad(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape paddings;
  TF_RETURN_IF_ERROR(Integers(node, 1, &paddings));
  if (paddings[0] != 0 || paddings[1] != 0) return Refuse("more rows");
  const Shape from = value.shape;
  Shape shape = from;
  for (size_t i = 0; i < from.size(); ++i) {
    shape[i] += paddings[2 * i + 2] + paddings[2 * i + 3];
  }
  const auto column_of = [&](Shape index) {
    for (size_t i = 0; i < from.size(); ++i) {
      index[i] -= paddings[2 * i + 2];
      if (index[i] < 0 || index[i] >= from[i]) return kZero;
    }
    return ColumnAt(from, index);
  };
  TF_RETURN_IF_ERROR(PickBy(std::move(shape), column_of, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadBroadcast(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shape));
  if (value.kind == Value::Kind::kLiteral) return BroadcastNumbers(node);
  if (value.kind != Value::Kind::kRows ||
      shape.size() != value.shape.size() + 1 || shape.front() != -1) {
    return Refuse("another shape");
  }
  shape.erase(shape.begin());
  TF_RETURN_IF_ERROR(PickModulo(std::move(shape), &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadTile(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  Shape counts;
  TF_RETURN_IF_ERROR(Integers(node, 1, &counts));
  if (value.kind != Value::Kind::kRows || counts.front() != 1) {
    return Refuse("more rows");
  }
  Shape shape = value.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape[i] *= counts[i + 1];
  TF_RETURN_IF_ERROR(PickModulo(std::move(shape), &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::PickModulo(Shape shape, Value* value) {
  const std::vector<int64_t> columns = ColumnsModulo(shape, value->shape);
  return Pick(columns, std::move(shape), value);
}

absl::Status BlockGraphReader::ReadTranspose(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape order;
  TF_RETURN_IF_ERROR(Integers(node, 1, &order));
  if (order.size() != value.shape.size() + 1 || order.front() != 0) {
    return Refuse("other rows");
  }
  const Shape from = value.shape;
  Shape shape(from.size());
  for (size_t i = 0; i < from.size(); ++i) shape[i] = from[order[i + 1] - 1];
  Shape source(from.size());
  const auto column_of = [&](const Shape& index) {
    for (size_t i = 0; i < from.size(); ++i) {
      source[order[i + 1] - 1] = index[i];
    }
    return ColumnAt(from, source);
  };
  TF_RETURN_IF_ERROR(PickBy(std::move(shape), column_of, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadReverse(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape axes;
  TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
  for (int64_t& axis : axes) {
    TF_RETURN_IF_ERROR(AxisInRow(axis, value.shape.size(), &axis));
  }
  const Shape shape = value.shape;
  const auto column_of = [&](Shape index) {
    for (const int64_t axis : axes) index[axis] = shape[axis] - 1 - index[axis];
    return ColumnAt(shape, index);
  };
  TF_RETURN_IF_ERROR(PickBy(shape, column_of, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadRoll(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  Shape shifts;
  Shape axes;
  TF_RETURN_IF_ERROR(Integers(node, 1, &shifts));
  TF_RETURN_IF_ERROR(Integers(node, 2, &axes));
  for (int64_t& axis : axes) {
    TF_RETURN_IF_ERROR(AxisInRow(axis, value.shape.size(), &axis));
  }
  const Shape shape = value.shape;
  const auto column_of = [&](Shape index) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t size = shape[axes[i]];
      const int64_t at = (index[axes[i]] - shifts[i]) % size;
      index[axes[i]] = at < 0 ? at + size : at;
    }
    return ColumnAt(shape, index);
  };
  TF_RETURN_IF_ERROR(PickBy(shape, column_of, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::GatherColumns(const tf::Node& node,
                                             const Value& indices, int64_t axis,
                                             Value value) {
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis, value.shape.size(), &along));
  Shape taken;
  TF_RETURN_IF_ERROR(Integers(node, 1, &taken));
  const Shape from = value.shape;
  if (std::any_of(taken.begin(), taken.end(), [&](int64_t index) {
        return index < 0 || index >= from[along];
      })) {
    return Refuse("a column that is not there");
  }
  // Of one index for each step; then the indices have a shape of their own.
  Shape flat = from;
  flat[along] = static_cast<int64_t>(taken.size());
  const std::vector<int64_t> columns = Columns(flat, [&](Shape index) {
    index[along] = taken[index[along]];
    return ColumnAt(from, index);
  });
  Shape shape = from;
  shape.erase(shape.begin() + along);
  shape.insert(shape.begin() + along, indices.shape.begin(),
               indices.shape.end());
  TF_RETURN_IF_ERROR(Pick(columns, std::move(shape), &value));
  return Set(node, 0, value);
}

}  // namespace recursive_tf
