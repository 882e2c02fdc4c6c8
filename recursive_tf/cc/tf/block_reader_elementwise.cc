#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Ops of which each element is computed of those at the same place. Operands
// are the op's, in the other order if `swaps`.
struct ElementwiseOp {
  Opcode opcode;
  bool swaps = false;
};

constexpr bool kSwaps = true;

const std::map<std::string, ElementwiseOp>& ElementwiseOps() {
  static const auto* const ops = new std::map<std::string, ElementwiseOp>{
      {"Abs", {Opcode::kAbs}},
      {"Add", {Opcode::kAdd}},
      {"AddV2", {Opcode::kAdd}},
      {"BiasAdd", {Opcode::kAdd}},
      {"Ceil", {Opcode::kCeil}},
      {"Cos", {Opcode::kCos}},
      {"Div", {Opcode::kDiv}},
      {"Equal", {Opcode::kEqual}},
      {"Erf", {Opcode::kErf}},
      {"Erfc", {Opcode::kErfc}},
      {"Exp", {Opcode::kExp}},
      {"Expm1", {Opcode::kExpm1}},
      {"Floor", {Opcode::kFloor}},
      {"Greater", {Opcode::kLess, kSwaps}},
      {"GreaterEqual", {Opcode::kLessEqual, kSwaps}},
      {"Inv", {Opcode::kReciprocal}},
      {"InvGrad", {Opcode::kReciprocalGrad}},
      {"Less", {Opcode::kLess}},
      {"LessEqual", {Opcode::kLessEqual}},
      {"Log", {Opcode::kLog}},
      {"Log1p", {Opcode::kLog1p}},
      {"LogicalAnd", {Opcode::kMul}},
      {"LogicalOr", {Opcode::kMax}},
      {"Maximum", {Opcode::kMax}},
      {"Minimum", {Opcode::kMin}},
      {"Mul", {Opcode::kMul}},
      {"Neg", {Opcode::kNeg}},
      {"NotEqual", {Opcode::kNotEqual}},
      {"RealDiv", {Opcode::kDiv}},
      {"Reciprocal", {Opcode::kReciprocal}},
      {"ReciprocalGrad", {Opcode::kReciprocalGrad}},
      {"Relu", {Opcode::kRelu}},
      {"ReluGrad", {Opcode::kReluGrad, kSwaps}},
      {"Rint", {Opcode::kRint}},
      {"Round", {Opcode::kRint}},
      {"Rsqrt", {Opcode::kRsqrt}},
      {"RsqrtGrad", {Opcode::kRsqrtGrad}},
      {"Select", {Opcode::kSelect}},
      {"SelectV2", {Opcode::kSelect}},
      {"Sigmoid", {Opcode::kSigmoid}},
      {"SigmoidGrad", {Opcode::kSigmoidGrad}},
      {"Sin", {Opcode::kSin}},
      {"Sqrt", {Opcode::kSqrt}},
      {"SqrtGrad", {Opcode::kSqrtGrad}},
      {"Square", {Opcode::kSquare}},
      {"SquaredDifference", {Opcode::kSquaredDifference}},
      {"Sub", {Opcode::kSub}},
      {"Tanh", {Opcode::kTanh}},
      {"TanhGrad", {Opcode::kTanhGrad}},
  };
  return *ops;
}

}  // namespace

bool BlockGraphReader::IsElementwise(const tf::Node& node) {
  return ElementwiseOps().count(node.type_string()) > 0;
}

absl::Status BlockGraphReader::ReadElementwise(const tf::Node& node) {
  const ElementwiseOp& op = ElementwiseOps().at(node.type_string());
  if (op.opcode == Opcode::kAdd && node.type_string() == "BiasAdd") {
    std::string format;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "data_format", &format));
    if (format != "NHWC") return Refuse("another data_format");
  }
  std::vector<Value> operands(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Input(node, i, &operands[i]));
  }
  if (HasWholeRows(operands)) {
    if (op.swaps) std::reverse(operands.begin(), operands.end());
    return ReadWholeRows(node, op.opcode, std::move(operands));
  }
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (operands[i].kind == Value::Kind::kNumber) {
      if (operands[i].dtype != tf::DT_BOOL) {
        return Refuse("two kinds of numbers");
      }
      operands[i] = RowsOfNumber(operands[i]);
    }
  }
  if (op.opcode == Opcode::kAdd && operands[0].kind == Value::Kind::kSum) {
    Value sum;
    TF_RETURN_IF_ERROR(Add(operands[0], operands[1], &sum));
    return Set(node, 0, sum);
  }
  if (node.type_string() == "Select") {
    operands[0] = OfWholeRows(operands[0], operands);
  }
  if (op.swaps) std::reverse(operands.begin(), operands.end());
  Value value;
  TF_RETURN_IF_ERROR(Elementwise(op.opcode, operands, &value));
  value.dtype = node.output_type(0);
  return Set(node, 0, value);
}

BlockGraphReader::Value BlockGraphReader::OfWholeRows(
    Value condition, const std::vector<Value>& operands) {
  if (condition.shape.empty()) {
    condition.shape.assign(operands[1].shape.size(), 1);
  }
  return condition;
}

absl::Status BlockGraphReader::ReadNot(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind != Value::Kind::kRows) return Refuse("no rows");
  value.id = block_.graph.Elementwise(Opcode::kEqual,
                                      {value.id, block_.graph.Constant(0)});
  return Set(node, 0, value);
}

// For some exponents there is something faster, and exact.
absl::Status BlockGraphReader::ReadPow(const tf::Node& node) {
  std::vector<Value> operands(2);
  TF_RETURN_IF_ERROR(Input(node, 0, &operands[0]));
  TF_RETURN_IF_ERROR(Input(node, 1, &operands[1]));
  const Value& exponent = operands[1];
  const bool is_known = exponent.kind == Value::Kind::kLiteral &&
                        SizeOf(exponent.shape) == 1 &&
                        exponent.dtype == block_.dtype;
  const double power = is_known ? NumberOf(literals_[exponent.id]) : 0;
  Value value;
  if (operands[0].kind == Value::Kind::kRows &&
      (power == -1 || power == 1 || power == 2 || power == 3)) {
    value = operands[0];
    value.id = Power(value.id, static_cast<int>(power));
  } else {
    TF_RETURN_IF_ERROR(Elementwise(Opcode::kPow, operands, &value));
  }
  return Set(node, 0, value);
}

int32_t BlockGraphReader::Power(int32_t base, int power) {
  BlockGraph& graph = block_.graph;
  if (power == -1) return graph.Elementwise(Opcode::kReciprocal, {base});
  if (power == 1) return base;
  const int32_t square = graph.Elementwise(Opcode::kSquare, {base});
  return power == 2 ? square : graph.Elementwise(Opcode::kMul, {square, base});
}

// The sign of NaN is NaN.
absl::Status BlockGraphReader::ReadSign(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind != Value::Kind::kRows) return Refuse("no rows");
  BlockGraph& graph = block_.graph;
  const int32_t zero = graph.Constant(0);
  const int32_t sign = graph.Elementwise(
      Opcode::kSub, {graph.Elementwise(Opcode::kLess, {zero, value.id}),
                     graph.Elementwise(Opcode::kLess, {value.id, zero})});
  value.id = graph.Elementwise(
      Opcode::kSelect, {graph.Elementwise(Opcode::kEqual, {value.id, value.id}),
                        sign, value.id});
  return Set(node, 0, value);
}

// What is not finite is NaN where it is taken from itself.
absl::Status BlockGraphReader::ReadIsFinite(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  if (value.kind != Value::Kind::kRows) return Refuse("no rows");
  BlockGraph& graph = block_.graph;
  if (node.type_string() == "IsNan") {
    value.id = graph.Elementwise(Opcode::kNotEqual, {value.id, value.id});
  } else if (node.type_string() == "IsInf") {
    const double infinity = std::numeric_limits<double>::infinity();
    value.id = graph.Elementwise(Opcode::kEqual,
                                 {graph.Elementwise(Opcode::kAbs, {value.id}),
                                  graph.Constant(infinity)});
  } else {
    value.id = graph.Elementwise(
        Opcode::kEqual, {graph.Elementwise(Opcode::kSub, {value.id, value.id}),
                         graph.Constant(0)});
  }
  value.dtype = tf::DT_BOOL;
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadCast(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  const tf::DataType dtype = node.output_type(0);
  if (value.kind == Value::Kind::kNumbers) return CastEach(node);
  if (value.kind == Value::Kind::kNumber) {
    if (SizeOf(value.shape) != 1) return Refuse("no number for each row");
    value = RowsOfNumber(value);
  }
  const bool is_bool =
      value.kind == Value::Kind::kRows && value.dtype == tf::DT_BOOL;
  if (value.kind == Value::Kind::kWholeRows || (is_bool && IsInteger(dtype))) {
    return CastWholeRows(node, value);
  }
  if (value.kind != Value::Kind::kRows || dtype != block_.dtype) {
    return Refuse("numbers of two dtypes");
  }
  value.dtype = block_.dtype;
  return Set(node, 0, value);
}

double BlockGraphReader::NumberOf(const tf::Tensor& tensor) {
  if (tensor.dtype() == tf::DT_BOOL) return tensor.flat<bool>()(0) ? 1 : 0;
  return tensor.dtype() == tf::DT_FLOAT
             ? static_cast<double>(tensor.flat<float>()(0))
             : tensor.flat<double>()(0);
}

absl::Status BlockGraphReader::ReadAddN(const tf::Node& node) {
  Value sum;
  TF_RETURN_IF_ERROR(Input(node, 0, &sum));
  for (int i = 1; i < node.num_inputs(); ++i) {
    Value next;
    TF_RETURN_IF_ERROR(Input(node, i, &next));
    TF_RETURN_IF_ERROR(Add(sum, next, &sum));
  }
  return Set(node, 0, sum);
}

absl::Status BlockGraphReader::Add(const Value& left, const Value& right,
                                   Value* sum) {
  if (left.kind != right.kind || left.shape != right.shape) {
    return Refuse("other shapes");
  }
  Value added = left;
  if (left.kind == Value::Kind::kSum) {
    added.id = block_.graph.AddSums({left.id, right.id});
  } else if (left.kind == Value::Kind::kRows) {
    TF_RETURN_IF_ERROR(Elementwise(Opcode::kAdd, {left, right}, &added));
  } else {
    return Refuse("no numbers");
  }
  *sum = added;
  return absl::OkStatus();
}

}  // namespace recursive_tf
