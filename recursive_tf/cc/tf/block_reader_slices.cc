// Reads the ops that take parts of rows.

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

namespace {

// How many rows there are is not known, but that there are some.
constexpr int64_t kManyRows = std::numeric_limits<int64_t>::max();

}  // namespace

absl::Status BlockGraphReader::ReadUnpack(const tf::Node& node) {
  int32_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  int64_t along = 0;
  TF_RETURN_IF_ERROR(AxisInRow(axis, value.shape.size(), &along));
  if (value.kind == Value::Kind::kNumbers) return UnpackNumbers(node);
  TF_RETURN_IF_ERROR(AsRows(&value));
  return SetParts(node, value, along, Shape(node.num_outputs(), 1),
                  /*keeps_axis=*/false);
}

absl::Status BlockGraphReader::ReadSplit(const tf::Node& node) {
  Value value;
  int64_t along = 0;
  TF_RETURN_IF_ERROR(RowsAlong(node, 1, 0, &value, &along));
  const int64_t count = value.shape[along] / node.num_outputs();
  return SetParts(node, value, along, Shape(node.num_outputs(), count),
                  /*keeps_axis=*/true);
}

absl::Status BlockGraphReader::ReadSplitV(const tf::Node& node) {
  Value value;
  int64_t along = 0;
  TF_RETURN_IF_ERROR(RowsAlong(node, 0, 2, &value, &along));
  Shape counts;
  TF_RETURN_IF_ERROR(Integers(node, 1, &counts));
  // One of the sizes may be what is left.
  const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  for (int64_t& count : counts) {
    if (count < 0) count = value.shape[along] - all - 1;
  }
  return SetParts(node, value, along, counts, /*keeps_axis=*/true);
}

absl::Status BlockGraphReader::SetParts(const tf::Node& node,
                                        const Value& value, int64_t along,
                                        const Shape& counts, bool keeps_axis) {
  std::vector<Range> ranges;
  for (const int64_t size : value.shape) ranges.push_back({0, size});
  Range& range = ranges[along];
  range.is_one = !keeps_axis;
  range.count = 0;
  for (int i = 0; i < node.num_outputs(); ++i) {
    range.begin += range.count;
    range.count = counts[i];
    Value part = value;
    TF_RETURN_IF_ERROR(TakeRanges(ranges, &part));
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
  if (begin.empty() || begin[0] != 0 || size[0] != -1) {
    return Refuse("some of the rows");
  }
  std::vector<Range> ranges;
  for (size_t i = 1; i < begin.size(); ++i) {
    const int64_t all = value.shape[i - 1];
    ranges.push_back({begin[i], size[i] < 0 ? all - begin[i] : size[i]});
  }
  TF_RETURN_IF_ERROR(TakeRanges(ranges, &value));
  return Set(node, 0, value);
}

std::vector<int64_t> BlockGraphReader::ColumnsOf(
    const std::vector<Range>& ranges, const Shape& from) {
  Shape counts;
  std::vector<Range> old;
  for (const Range& range : ranges) {
    if (range.is_new) continue;
    counts.push_back(range.count);
    old.push_back(range);
  }
  return Columns(counts, [&](Shape index) {
    for (size_t axis = 0; axis < old.size(); ++axis) {
      index[axis] = old[axis].begin + old[axis].stride * index[axis];
    }
    return ColumnAt(from, index);
  });
}

absl::Status BlockGraphReader::TakeRanges(const std::vector<Range>& ranges,
                                          Value* value) {
  Shape kept;
  for (const Range& range : ranges) {
    if (!range.is_one) kept.push_back(range.is_new ? 1 : range.count);
  }
  return Pick(ColumnsOf(ranges, value->shape), std::move(kept), value);
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
    const int64_t size = shape[axis++];
    range.is_one = is_in("shrink_axis_mask", i);
    range.stride = range.is_one ? 1 : strides[i];
    // Where a stride ends, and begins, that goes all the way.
    const int64_t first = range.stride > 0 ? 0 : size - 1;
    const int64_t last = range.stride > 0 ? size : -1;
    const auto place = [=](int64_t index) {
      return std::clamp<int64_t>(index < 0 ? index + size : index,
                                 std::min(first, last), std::max(first, last));
    };
    const bool begins = !is_in("begin_mask", i) || range.is_one;
    range.begin = begins ? place(begin[i]) : first;
    const int64_t stop = is_in("end_mask", i) ? last : place(end[i]);
    const int64_t step = range.stride > 0 ? 1 : -1;
    // Rows may be too many to add something to their number.
    range.count = (stop - range.begin) / range.stride +
                  ((stop - range.begin) % range.stride != 0 ? 1 : 0);
    if ((stop - range.begin) * step <= 0) range.count = 0;
    if (range.is_one) range.count = 1;
    if (range.is_one && range.begin >= size) {
      return Refuse("a column that is not there");
    }
    if (range.count <= 0) return Refuse("no columns");
  }
  for (; axis < shape.size(); ++axis) ranges->push_back({0, shape[axis]});
  return absl::OkStatus();
}

absl::Status BlockGraphReader::RangesOfRow(const tf::Node& node, Shape row,
                                           std::vector<Range>* ranges) const {
  row.insert(row.begin(), kManyRows);
  TF_RETURN_IF_ERROR(RangesOf(node, row, ranges));
  const Range rows = ranges->front();
  if (rows.is_new || rows.begin != 0 || rows.count != kManyRows) {
    return Refuse("some of the rows");
  }
  ranges->erase(ranges->begin());
  return absl::OkStatus();
}

absl::Status BlockGraphReader::ReadStridedSlice(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind == Value::Kind::kShape) return SliceShape(node);
  if (value.is_numbers()) return SliceNumbers(node);
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  std::vector<Range> ranges;
  TF_RETURN_IF_ERROR(RangesOfRow(node, value.shape, &ranges));
  TF_RETURN_IF_ERROR(TakeRanges(ranges, &value));
  return Set(node, 0, value);
}

// Where a column was taken from is its gradient; else there is none.
absl::Status BlockGraphReader::ReadStridedSliceGrad(const tf::Node& node) {
  Shape shape;
  TF_RETURN_IF_ERROR(Integers(node, 0, &shape));
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 4, &value));
  if (shape.empty() || shape.front() != -1) return Refuse("another shape");
  shape.erase(shape.begin());
  std::vector<Range> ranges;
  TF_RETURN_IF_ERROR(RangesOfRow(node, shape, &ranges));
  const std::vector<int64_t> taken = ColumnsOf(ranges, shape);
  std::vector<int64_t> columns(SizeOf(shape), kZero);
  for (size_t i = 0; i < taken.size(); ++i) {
    columns[taken[i]] = static_cast<int64_t>(i);
  }
  TF_RETURN_IF_ERROR(Pick(columns, std::move(shape), &value));
  return Set(node, 0, value);
}

}  // namespace recursive_tf
