// Reads the ops of which each element takes several instructions: activations,
// and functions that are 0 where an operand is.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Those of SELU: Klambauer et al., "Self-Normalizing Neural Networks", NeurIPS
// 2017 (arXiv:1706.02515), section 2.
constexpr double kScale = 1.0507009873554804934193349852946;
constexpr double kScaledAlpha = kScale * 1.6732632423543772848170429916717;

// Writes formulas of nodes.
class Formulas {
 public:
  explicit Formulas(BlockGraph* graph, double alpha)
      : alpha_(alpha), graph_(*graph) {}

  int32_t alpha() const { return Number(alpha_); }
  int32_t Number(double value) const { return graph_.Constant(value); }
  int32_t Of(Opcode opcode, int32_t a) const {
    return graph_.Elementwise(opcode, {a});
  }
  int32_t Of(Opcode opcode, int32_t a, int32_t b) const {
    return graph_.Elementwise(opcode, {a, b});
  }
  int32_t Add(int32_t a, double b) const {
    return Of(Opcode::kAdd, a, Number(b));
  }
  int32_t Mul(int32_t a, int32_t b) const { return Of(Opcode::kMul, a, b); }
  int32_t Mul(int32_t a, double b) const { return Mul(a, Number(b)); }
  // Returns `a` where x is above 0, and else `b`.
  int32_t IfAbove(int32_t x, int32_t a, int32_t b) const {
    return Select(Of(Opcode::kLess, Number(0), x), a, b);
  }
  int32_t IfBelow(int32_t x, int32_t a, int32_t b) const {
    return Select(Of(Opcode::kLess, x, Number(0)), a, b);
  }
  // Returns 0 where x is, and else `a`.
  int32_t UnlessZero(int32_t x, int32_t a) const {
    return Select(x, a, Number(0));
  }

 private:
  int32_t Select(int32_t condition, int32_t a, int32_t b) const {
    return graph_.Elementwise(Opcode::kSelect, {condition, a, b});
  }

  const double alpha_;
  BlockGraph& graph_;
};

using F = const Formulas&;
// Of the operands of an op; the second one of a gradient is the activation's
// input or output, as TensorFlow has it.
using Formula = std::function<int32_t(F f, int32_t a, int32_t b)>;

// Not above 6, and NaN where it is.
int32_t Relu6(F f, int32_t x) {
  return f.Of(Opcode::kMin, f.Of(Opcode::kRelu, x), f.Number(6));
}

// log(1 + exp(x)), of an exponential that is never large.
int32_t Softplus(F f, int32_t x) {
  const int32_t small =
      f.Of(Opcode::kExp, f.Of(Opcode::kNeg, f.Of(Opcode::kAbs, x)));
  return f.Of(Opcode::kAdd, f.Of(Opcode::kRelu, x),
              f.Of(Opcode::kLog1p, small));
}

int32_t OneAndSize(F f, int32_t x) { return f.Add(f.Of(Opcode::kAbs, x), 1); }

const std::map<std::string, Formula>& FormulaOps() {
  static const auto* const ops = new std::map<std::string, Formula>{
      {"DivNoNan",
       [](F f, int32_t a, int32_t b) {
         return f.UnlessZero(b, f.Of(Opcode::kDiv, a, b));
       }},
      {"Elu", [](F f, int32_t x,
                 int32_t) { return f.IfBelow(x, f.Of(Opcode::kExpm1, x), x); }},
      {"EluGrad",
       [](F f, int32_t gradient, int32_t y) {
         return f.IfBelow(y, f.Mul(gradient, f.Add(y, 1)), gradient);
       }},
      {"FloorDiv",
       [](F f, int32_t a, int32_t b) {
         return f.Of(Opcode::kFloor, f.Of(Opcode::kDiv, a, b));
       }},
      {"LeakyRelu",
       [](F f, int32_t x, int32_t) {
         return f.IfAbove(x, x, f.Mul(x, f.alpha()));
       }},
      {"LeakyReluGrad",
       [](F f, int32_t gradient, int32_t x) {
         return f.IfAbove(x, gradient, f.Mul(gradient, f.alpha()));
       }},
      {"MulNoNan",
       [](F f, int32_t a, int32_t b) { return f.UnlessZero(b, f.Mul(a, b)); }},
      {"Relu6", [](F f, int32_t x, int32_t) { return Relu6(f, x); }},
      {"Relu6Grad",
       [](F f, int32_t gradient, int32_t y) {
         const int32_t is_inside = f.Mul(f.Of(Opcode::kLess, f.Number(0), y),
                                         f.Of(Opcode::kLess, y, f.Number(6)));
         return f.Mul(gradient, is_inside);
       }},
      {"Selu",
       [](F f, int32_t x, int32_t) {
         return f.IfBelow(x, f.Mul(f.Of(Opcode::kExpm1, x), kScaledAlpha),
                          f.Mul(x, kScale));
       }},
      {"SeluGrad",
       [](F f, int32_t gradient, int32_t y) {
         return f.IfBelow(y, f.Mul(gradient, f.Add(y, kScaledAlpha)),
                          f.Mul(gradient, kScale));
       }},
      {"Softplus", [](F f, int32_t x, int32_t) { return Softplus(f, x); }},
      {"SoftplusGrad",
       [](F f, int32_t gradient, int32_t x) {
         return f.Mul(gradient, f.Of(Opcode::kSigmoid, x));
       }},
      {"Softsign",
       [](F f, int32_t x, int32_t) {
         return f.Of(Opcode::kDiv, x, OneAndSize(f, x));
       }},
      {"SoftsignGrad",
       [](F f, int32_t gradient, int32_t x) {
         return f.Of(Opcode::kDiv, gradient,
                     f.Of(Opcode::kSquare, OneAndSize(f, x)));
       }},
      {"Xdivy",
       [](F f, int32_t a, int32_t b) {
         return f.UnlessZero(a, f.Of(Opcode::kDiv, a, b));
       }},
      {"Xlog1py",
       [](F f, int32_t a, int32_t b) {
         return f.UnlessZero(a, f.Mul(a, f.Of(Opcode::kLog1p, b)));
       }},
      {"Xlogy",
       [](F f, int32_t a, int32_t b) {
         return f.UnlessZero(a, f.Mul(a, f.Of(Opcode::kLog, b)));
       }},
  };
  return *ops;
}

}  // namespace

bool BlockGraphReader::HasFormula(const tf::Node& node) {
  return FormulaOps().count(node.type_string()) > 0;
}

absl::Status BlockGraphReader::ReadFormula(const tf::Node& node) {
  // Of a gradient, one of the two may be the same for all rows.
  std::vector<Value> operands(node.num_inputs());
  for (int i = 0; i < node.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(Input(node, i, &operands[i]));
  }
  Value result;
  result.dtype = block_.dtype;
  TF_RETURN_IF_ERROR(BroadcastShape(&operands, &result.shape));
  std::vector<int32_t> ids(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    TF_RETURN_IF_ERROR(AsOperand(operands[i], result.shape, &ids[i]));
  }
  // A part of a formula may be of what is the same for all rows alone.
  int32_t axis = -1;
  for (const int32_t id : ids) axis = std::max(axis, block_.graph[id].axis);
  for (int32_t& id : ids) id = block_.graph.Along(id, axis);
  float alpha = 0;
  tf::TryGetNodeAttr(node.attrs(), "alpha", &alpha);
  result.id = FormulaOps().at(node.type_string())(
      Formulas(&block_.graph, alpha), ids.front(), ids.back());
  return Set(node, 0, result);
}

}  // namespace recursive_tf
