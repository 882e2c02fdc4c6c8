#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

BlockGraphReader::Exponentials BlockGraphReader::ExponentialsOf(int32_t row) {
  BlockGraph& graph = block_.graph;
  Exponentials of;
  // So that no exponential is too large.
  const int32_t most = graph.Reduce(Reduction::kMax, row);
  of.logits = graph.Elementwise(Opcode::kSub, {row, most});
  of.exps = graph.Elementwise(Opcode::kExp, {of.logits});
  of.sum = graph.Reduce(Reduction::kSum, of.exps);
  return of;
}

int32_t BlockGraphReader::Surprises(const Exponentials& of) {
  BlockGraph& graph = block_.graph;
  return graph.Elementwise(
      Opcode::kSub, {graph.Elementwise(Opcode::kLog, {of.sum}), of.logits});
}

// Along the last axis, in each piece of the others.
absl::Status BlockGraphReader::ReadSoftmax(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Rows(node, 0, &value));
  if (value.shape.empty()) return Refuse("another shape");
  std::vector<int32_t> pieces;
  TF_RETURN_IF_ERROR(
      Pieces(value.id, SizeOf(value.shape) / value.shape.back(), &pieces));
  BlockGraph& graph = block_.graph;
  const bool is_log = node.type_string() == "LogSoftmax";
  for (int32_t& piece : pieces) {
    const Exponentials of = ExponentialsOf(piece);
    piece = is_log ? graph.Elementwise(
                         Opcode::kSub,
                         {of.logits, graph.Elementwise(Opcode::kLog, {of.sum})})
                   : graph.Elementwise(Opcode::kDiv, {of.exps, of.sum});
  }
  value.id = graph.Concat(pieces);
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadLogits(const tf::Node& node, Value* logits) {
  TF_RETURN_IF_ERROR(Rows(node, 0, logits));
  return logits->shape.size() == 1 ? absl::OkStatus() : Refuse("another shape");
}

absl::Status BlockGraphReader::ReadCrossEntropy(const tf::Node& node) {
  Value logits;
  TF_RETURN_IF_ERROR(ReadLogits(node, &logits));
  const Exponentials of = ExponentialsOf(logits.id);
  Value labels;
  TF_RETURN_IF_ERROR(Input(node, 1, &labels));
  int32_t label = 0;
  TF_RETURN_IF_ERROR(AsOperand(labels, logits.shape, &label));
  return SetCrossEntropy(
      node, logits, of,
      block_.graph.Elementwise(Opcode::kMul, {label, Surprises(of)}), label);
}

absl::Status BlockGraphReader::ReadSparseCrossEntropy(const tf::Node& node) {
  Value logits;
  TF_RETURN_IF_ERROR(ReadLogits(node, &logits));
  const Exponentials of = ExponentialsOf(logits.id);
  Value label;
  TF_RETURN_IF_ERROR(Input(node, 1, &label));
  if (label.kind != Value::Kind::kNumber || SizeOf(label.shape) != 1) {
    return Refuse("labels that are no number for each row");
  }
  RowNumber inside = {NumberOp::kInside, label.dtype, -1, {label.id}};
  inside.constant = SizeOf(logits.shape);
  label.id = AddNumber(std::move(inside));
  int32_t is_label = 0;
  TF_RETURN_IF_ERROR(
      IsColumn(RowsOfNumber(label).id, SizeOf(logits.shape), &is_label));
  BlockGraph& graph = block_.graph;
  // Also where another column's is infinite.
  const int32_t surprise = graph.Elementwise(
      Opcode::kSelect, {is_label, Surprises(of), graph.Constant(0)});
  return SetCrossEntropy(node, logits, of, surprise, is_label);
}

absl::Status BlockGraphReader::SetCrossEntropy(const tf::Node& node,
                                               const Value& logits,
                                               const Exponentials& of,
                                               int32_t summands,
                                               int32_t label) {
  BlockGraph& graph = block_.graph;
  Value loss = logits;
  loss.shape.pop_back();
  loss.id = graph.Reduce(Reduction::kSum, summands);
  TF_RETURN_IF_ERROR(Set(node, 0, loss));
  Value gradient = logits;
  gradient.id = graph.Elementwise(
      Opcode::kSub,
      {graph.Elementwise(Opcode::kDiv, {of.exps, of.sum}), label});
  return Set(node, 1, gradient);
}

absl::Status BlockGraphReader::ReadOneHot(const tf::Node& node) {
  Value number;
  TF_RETURN_IF_ERROR(Input(node, 0, &number));
  Shape depth;
  TF_RETURN_IF_ERROR(Integers(node, 1, &depth));
  int64_t axis = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "axis", &axis));
  if (number.kind == Value::Kind::kNumber) number = RowsOfNumber(number);
  const bool is_number =
      HasRows(number) || number.kind == Value::Kind::kWholeRows;
  if (!is_number || !number.shape.empty() || (axis != -1 && axis != 1) ||
      node.output_type(0) != block_.dtype) {
    return Refuse("another kind of columns");
  }
  int32_t is_on = 0;
  TF_RETURN_IF_ERROR(IsColumn(number.id, depth.front(), &is_on));
  Value value;
  value.shape = {depth.front()};
  value.dtype = block_.dtype;
  std::vector<int32_t> operands = {is_on};
  for (const int input : {2, 3}) {
    Value choice;
    TF_RETURN_IF_ERROR(Input(node, input, &choice));
    TF_RETURN_IF_ERROR(
        AsOperand(choice, value.shape, &operands.emplace_back()));
  }
  value.id = block_.graph.Elementwise(Opcode::kSelect, operands);
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::IsColumn(int32_t number, int64_t width,
                                        int32_t* id) {
  Value columns;
  TF_RETURN_IF_ERROR(CountingNumbers(width, &columns));
  TakeAsInvariant(&columns);
  *id = block_.graph.Elementwise(
      Opcode::kEqual, {block_.graph.Shared(columns.id, width), number});
  return absl::OkStatus();
}

}  // namespace recursive_tf
