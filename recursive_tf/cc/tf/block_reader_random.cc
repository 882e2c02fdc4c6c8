// Random numbers, and the keys and seeds of rows that they follow from. A key
// is a whole number that nothing but these ops takes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BlockGraphReader::ReadBitcast(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  std::vector<Value> from;
  TF_RETURN_IF_ERROR(Each(value, &from));
  const tf::DataType dtype = node.output_type(0);
  const int size = tf::DataTypeSize(dtype);
  const bool is_whole = IsNumber(dtype) && dtype != tf::DT_BOOL;
  if (tf::DataTypeSize(value.dtype) != 8 || !is_whole) {
    return Refuse("another dtype");
  }
  std::vector<Value> each;
  for (Value& word : from) {
    if (size == 4) {
      TF_RETURN_IF_ERROR(Computed(NumberOp::kLowHalf, dtype, {word}, &each));
      TF_RETURN_IF_ERROR(Computed(NumberOp::kHighHalf, dtype, {word}, &each));
    } else if (word.kind == Value::Kind::kLiteral) {
      word.dtype = dtype;
      each.push_back(word);
    } else {
      TF_RETURN_IF_ERROR(Computed(NumberOp::kCast, dtype, {word}, &each));
    }
  }
  if (size == 4) value.shape.push_back(2);
  return SetNumbers(node, 0, std::move(each), std::move(value.shape), dtype);
}

absl::Status BlockGraphReader::ReadKeyRows(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  std::vector<Value> seed;
  TF_RETURN_IF_ERROR(Each(value, &seed));
  if (seed.size() != 2) return Refuse("another shape");
  std::vector<Value> key;
  TF_RETURN_IF_ERROR(Computed(NumberOp::kKeyOfSeed, tf::DT_UINT64, seed, &key));
  TF_RETURN_IF_ERROR(SetNumbers(node, 0, std::move(key), {1}, tf::DT_UINT64));
  std::vector<Value> counter = {ScalarLiteral(tf::Tensor(uint64_t{0}))};
  TF_RETURN_IF_ERROR(
      Computed(NumberOp::kCounterOfSeed, tf::DT_UINT64, seed, &counter));
  return SetNumbers(node, 1, std::move(counter), {2}, tf::DT_UINT64);
}

absl::Status BlockGraphReader::ReadDraw(const tf::Node& node) {
  if (node.output_type(0) != block_.dtype) return Refuse("another dtype");
  RowDraw draw;
  const std::string& type = node.type_string();
  if (type == "RecursiveNormalRows") {
    draw.distribution = RowDraw::Distribution::kNormal;
  } else if (type == "RecursiveTruncatedNormalRows") {
    draw.distribution = RowDraw::Distribution::kTruncatedNormal;
  }
  Value rows;
  TF_RETURN_IF_ERROR(Integers(node, 0, &rows.shape));
  draw.width = SizeOf(rows.shape);
  std::vector<Value> words;
  for (int i = 1; i < 3; ++i) {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, i, &value));
    std::vector<Value> each;
    TF_RETURN_IF_ERROR(Each(value, &each));
    words.insert(words.end(), each.begin(), each.end());
  }
  if (words.size() < 3) return Refuse("another shape");
  TF_RETURN_IF_ERROR(JoinRows(&words));
  TF_RETURN_IF_ERROR(AsAnyNumber(words[0], &draw.key));
  const int32_t axis = block_.numbers[draw.key].axis;
  if (axis < 0 || draw.width <= 0) return Refuse("no rows");
  for (size_t i = 0; i < 2; ++i) draw.counters[i] = words[i + 1].id;
  BlockInput input;
  input.draw = static_cast<int32_t>(block_.draws.size());
  block_.draws.push_back(draw);
  rows.dtype = block_.dtype;
  rows.id = AddInput(input, draw.width, axis);
  return Set(node, 0, rows);
}

}  // namespace recursive_tf
