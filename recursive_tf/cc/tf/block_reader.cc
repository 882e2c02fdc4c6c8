#include "recursive_tf/cc/tf/block_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

using Shape = std::vector<int64_t>;

// A tensor of the function that is read.
struct Value {
  enum class Kind : uint8_t {
    // Of the graph: rows, or what is summed over rows.
    kRows,
    kSum,
    // One whole number a row.
    kNumber,
    kInvariant,
    kLiteral,
  };

  Kind kind = Kind::kRows;
  // A node of the graph, a number, or which invariant or literal.
  int32_t id = 0;
  // Of one row, or of all.
  Shape shape;
  tf::DataType dtype = tf::DT_FLOAT;
};

int64_t SizeOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

// Ops of which each element is computed of those at the same place. Operands
// are the op's, in the other order if `swaps`.
struct ElementwiseOp {
  Opcode opcode;
  bool swaps = false;
};

const std::map<std::string, ElementwiseOp>& ElementwiseOps() {
  static const auto* const ops = new std::map<std::string, ElementwiseOp>{
      {"Abs", {Opcode::kAbs}},
      {"Add", {Opcode::kAdd}},
      {"AddV2", {Opcode::kAdd}},
      {"BiasAdd", {Opcode::kAdd}},
      {"Cos", {Opcode::kCos}},
      {"Div", {Opcode::kDiv}},
      {"Exp", {Opcode::kExp}},
      {"Expm1", {Opcode::kExpm1}},
      {"Inv", {Opcode::kReciprocal}},
      {"InvGrad", {Opcode::kReciprocalGrad}},
      {"Log", {Opcode::kLog}},
      {"Log1p", {Opcode::kLog1p}},
      {"Maximum", {Opcode::kMax}},
      {"Minimum", {Opcode::kMin}},
      {"Mul", {Opcode::kMul}},
      {"Neg", {Opcode::kNeg}},
      {"RealDiv", {Opcode::kDiv}},
      {"Reciprocal", {Opcode::kReciprocal}},
      {"ReciprocalGrad", {Opcode::kReciprocalGrad}},
      {"Relu", {Opcode::kRelu}},
      {"ReluGrad", {Opcode::kReluGrad, /*swaps=*/true}},
      {"Rsqrt", {Opcode::kRsqrt}},
      {"RsqrtGrad", {Opcode::kRsqrtGrad}},
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

const std::map<std::string, Reduction>& Reductions() {
  static const auto* const ops =
      new std::map<std::string, Reduction>{{"Max", Reduction::kMax},
                                           {"Mean", Reduction::kMean},
                                           {"Min", Reduction::kMin},
                                           {"Sum", Reduction::kSum}};
  return *ops;
}

class Reader {
 public:
  Reader(const tf::Graph& graph, int32_t num_rows_arguments,
         const std::vector<BlockArgument>& arguments, ReadBlock* block)
      : graph_(graph),
        num_rows_arguments_(num_rows_arguments),
        arguments_(arguments),
        block_(*block) {}

  absl::Status Run() {
    TF_RETURN_IF_ERROR(FindDtype());
    std::vector<tf::Node*> order;
    tf::GetReversePostOrder(graph_, &order, tf::NodeComparatorID());
    std::map<int32_t, Value> returned;
    for (const tf::Node* node : order) {
      if (!node->IsOp()) continue;
      if (node->IsRetval()) {
        int32_t index = 0;
        TF_RETURN_IF_ERROR(tf::GetNodeAttr(node->attrs(), "index", &index));
        TF_RETURN_IF_ERROR(Input(*node, 0, &returned[index]));
      } else {
        const absl::Status status = Read(*node);
        if (!status.ok()) {
          return absl::UnimplementedError(
              absl::StrCat(node->type_string(), " '", node->name(),
                           "': ", status.message()));
        }
      }
    }
    for (const auto& [index, value] : returned) {
      TF_RETURN_IF_ERROR(AddOutput(value));
    }
    return absl::OkStatus();
  }

 private:
  using Key = std::pair<int, int>;

  static absl::Status Refuse(const char* why) {
    return absl::UnimplementedError(why);
  }

  // The dtype of all numbers that are no whole ones.
  absl::Status FindDtype() {
    bool is_found = false;
    for (const BlockArgument& argument : arguments_) {
      if (argument.dtype != tf::DT_FLOAT && argument.dtype != tf::DT_DOUBLE) {
        continue;
      }
      if (is_found && argument.dtype != block_.dtype) {
        return Refuse("numbers of two dtypes");
      }
      block_.dtype = argument.dtype;
      is_found = true;
    }
    return absl::OkStatus();
  }

  absl::Status Input(const tf::Node& node, int index, Value* value) const {
    const tf::Edge* edge = nullptr;
    TF_RETURN_IF_ERROR(node.input_edge(index, &edge));
    const auto found = values_.find({edge->src()->id(), edge->src_output()});
    if (found == values_.end()) return Refuse("an input that is not read");
    *value = found->second;
    return absl::OkStatus();
  }

  absl::Status Set(const tf::Node& node, int output, const Value& value) {
    // Phases share columns among threads.
    if (value.kind == Value::Kind::kRows && SizeOf(value.shape) == 0) {
      return Refuse("no columns");
    }
    values_[{node.id(), output}] = value;
    return absl::OkStatus();
  }

  absl::Status Read(const tf::Node& node) {
    const std::string& type = node.type_string();
    if (node.IsArg()) return ReadArgument(node);
    if (type == "Const") return ReadConstant(node);
    // What only orders ops has no value.
    if (type == "NoOp") return absl::OkStatus();
    const auto elementwise = ElementwiseOps().find(type);
    if (elementwise != ElementwiseOps().end()) {
      return ReadElementwise(node, elementwise->second);
    }
    const auto reduction = Reductions().find(type);
    if (reduction != Reductions().end()) {
      return ReadReduction(node, reduction->second);
    }
    static const auto* const readers =
        new std::map<std::string, absl::Status (Reader::*)(const tf::Node&)>{
            {"AddN", &Reader::ReadAddN},
            {"ConcatV2", &Reader::ReadConcat},
            {"ExpandDims", &Reader::ReadReshape},
            {"GatherV2", &Reader::ReadGather},
            {"Identity", &Reader::ReadIdentity},
            {"MatMul", &Reader::ReadMatMul},
            {"Reshape", &Reader::ReadReshape},
            {"ResourceGather", &Reader::ReadGather},
            {"Slice", &Reader::ReadSlice},
            {"Softmax", &Reader::ReadSoftmax},
            {"Split", &Reader::ReadSplit},
            {"Squeeze", &Reader::ReadReshape},
    };
    const auto reader = readers->find(type);
    if (reader == readers->end()) return Refuse("no such instruction");
    return (this->*reader->second)(node);
  }

  absl::Status ReadArgument(const tf::Node& node) {
    int32_t index = 0;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "index", &index));
    const BlockArgument& argument = arguments_[index];
    Value value;
    value.shape = argument.shape;
    value.dtype = argument.dtype;
    if (index >= num_rows_arguments_) {
      value.kind = Value::Kind::kInvariant;
      value.id = index - num_rows_arguments_;
    } else if (argument.dtype == block_.dtype) {
      value.id = block_.graph.Input(index, SizeOf(argument.shape));
      argument_of_node_[value.id] = index;
    } else if (argument.dtype == tf::DT_INT32 ||
               argument.dtype == tf::DT_INT64) {
      value.kind = Value::Kind::kNumber;
      value.id = AddNumber({index, -1, -1, argument.dtype});
    } else {
      // Refused if anything reads it.
      return absl::OkStatus();
    }
    return Set(node, 0, value);
  }

  int32_t AddNumber(const RowNumber& number) {
    block_.numbers.push_back(number);
    return static_cast<int32_t>(block_.numbers.size()) - 1;
  }

  absl::Status ReadConstant(const tf::Node& node) {
    tf::Tensor tensor;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "value", &tensor));
    Value value;
    value.kind = Value::Kind::kLiteral;
    value.id = static_cast<int32_t>(literals_.size());
    for (int i = 0; i < tensor.dims(); ++i) {
      value.shape.push_back(tensor.dim_size(i));
    }
    value.dtype = tensor.dtype();
    literals_.push_back(std::move(tensor));
    return Set(node, 0, value);
  }

  // Reads a constant of whole numbers.
  absl::Status Integers(const tf::Node& node, int input, Shape* numbers) const {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, input, &value));
    if (value.kind != Value::Kind::kLiteral) return Refuse("no constant");
    const tf::Tensor& tensor = literals_[value.id];
    for (int64_t i = 0; i < tensor.NumElements(); ++i) {
      if (tensor.dtype() == tf::DT_INT32) {
        numbers->push_back(tensor.flat<int32_t>()(i));
      } else if (tensor.dtype() == tf::DT_INT64) {
        numbers->push_back(tensor.flat<int64_t>()(i));
      } else {
        return Refuse("no constant of whole numbers");
      }
    }
    return absl::OkStatus();
  }

  // ---- Element-wise.

  absl::Status ReadElementwise(const tf::Node& node, const ElementwiseOp& op) {
    if (op.opcode == Opcode::kAdd && node.type_string() == "BiasAdd") {
      std::string format;
      TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "data_format", &format));
      if (format != "NHWC") return Refuse("another data_format");
    }
    std::vector<Value> operands(node.num_inputs());
    for (int i = 0; i < node.num_inputs(); ++i) {
      TF_RETURN_IF_ERROR(Input(node, i, &operands[i]));
    }
    if (op.swaps) std::reverse(operands.begin(), operands.end());
    Value value;
    TF_RETURN_IF_ERROR(Elementwise(op.opcode, operands, &value));
    return Set(node, 0, value);
  }

  absl::Status Elementwise(Opcode opcode, const std::vector<Value>& operands,
                           Value* value) {
    // That of the rows among them; one of them has it.
    bool has_rows = false;
    for (const Value& operand : operands) {
      if (operand.kind != Value::Kind::kRows) continue;
      if (!has_rows || SizeOf(operand.shape) > SizeOf(value->shape) ||
          (SizeOf(operand.shape) == SizeOf(value->shape) &&
           operand.shape.size() > value->shape.size())) {
        value->shape = operand.shape;
      }
      has_rows = true;
    }
    if (!has_rows) return Refuse("no rows");
    std::vector<int32_t> ids;
    for (const Value& operand : operands) {
      int32_t id = 0;
      TF_RETURN_IF_ERROR(AsOperand(operand, value->shape, &id));
      ids.push_back(id);
    }
    value->id = block_.graph.Elementwise(opcode, ids);
    value->dtype = block_.dtype;
    return absl::OkStatus();
  }

  // Sets `*id` to a node that gives a value for rows of some shape.
  absl::Status AsOperand(const Value& value, const Shape& shape, int32_t* id) {
    if (value.dtype != block_.dtype) return Refuse("another dtype");
    switch (value.kind) {
      case Value::Kind::kRows:
        if (value.shape == shape ||
            (SizeOf(value.shape) == 1 && value.shape.size() == shape.size())) {
          *id = value.id;
          return absl::OkStatus();
        }
        return Refuse("rows of two shapes");
      case Value::Kind::kInvariant:
        if (!Repeats(value.shape, shape)) return Refuse("a part of each row");
        *id = block_.graph.Shared(value.id,
                                  SizeOf(value.shape) == 1 ? 1 : SizeOf(shape));
        return absl::OkStatus();
      case Value::Kind::kLiteral: {
        if (!Repeats(value.shape, shape)) return Refuse("a part of each row");
        const tf::Tensor& tensor = literals_[value.id];
        if (tensor.NumElements() == 1) {
          *id = block_.graph.Constant(
              tensor.dtype() == tf::DT_FLOAT
                  ? static_cast<double>(tensor.flat<float>()(0))
                  : tensor.flat<double>()(0));
          return absl::OkStatus();
        }
        *id = block_.graph.Shared(
            static_cast<int32_t>(arguments_.size()) - num_rows_arguments_ +
                static_cast<int32_t>(block_.literals.size()),
            SizeOf(shape));
        block_.literals.push_back(tensor);
        return absl::OkStatus();
      }
      default:
        return Refuse("no numbers");
    }
  }

  // Returns whether a tensor is the same for each row, and within a row, if it
  // is smaller, again and again.
  static bool Repeats(Shape part, const Shape& shape) {
    if (part.size() > shape.size() + 1) return false;
    if (SizeOf(part) == 1) return true;
    while (!part.empty() && part.front() == 1) part.erase(part.begin());
    return part.size() <= shape.size() &&
           std::equal(part.rbegin(), part.rend(), shape.rbegin());
  }

  absl::Status ReadAddN(const tf::Node& node) {
    Value sum;
    TF_RETURN_IF_ERROR(Input(node, 0, &sum));
    for (int i = 1; i < node.num_inputs(); ++i) {
      Value next;
      TF_RETURN_IF_ERROR(Input(node, i, &next));
      if (next.kind != Value::Kind::kRows || sum.kind != next.kind ||
          next.shape != sum.shape) {
        return Refuse("other shapes");
      }
      Value added;
      TF_RETURN_IF_ERROR(Elementwise(Opcode::kAdd, {sum, next}, &added));
      sum = added;
    }
    return Set(node, 0, sum);
  }

  absl::Status ReadIdentity(const tf::Node& node) {
    Value value;
    TF_RETURN_IF_ERROR(Input(node, 0, &value));
    return Set(node, 0, value);
  }

  // Sets `*value` to rows that have all of their columns.
  absl::Status Rows(const tf::Node& node, int input, Value* value) const {
    TF_RETURN_IF_ERROR(Input(node, input, value));
    return value->kind == Value::Kind::kRows &&
                   block_.graph[value->id].width == SizeOf(value->shape)
               ? absl::OkStatus()
               : Refuse("an input that is no rows");
  }

  // ---- Shapes.

  // Only the shape of a row may change, which is nothing to columns.
  absl::Status ReadReshape(const tf::Node& node) {
    Value value;
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

  // Returns how many columns one step along an axis is, if there are whole
  // rows on both sides: that of the first of a row's axes.
  static bool IsFirstAxis(int64_t axis, const Shape& row) {
    const auto rank = static_cast<int64_t>(row.size()) + 1;
    return !row.empty() && (axis == 1 || axis + rank == 1);
  }

  absl::Status ReadConcat(const tf::Node& node) {
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

  absl::Status ReadSplit(const tf::Node& node) {
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

  absl::Status ReadSlice(const tf::Node& node) {
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

  // ---- Products, reductions and sums.

  absl::Status ReadMatMul(const tf::Node& node) {
    bool transposes_left = false;
    bool transposes_right = false;
    TF_RETURN_IF_ERROR(
        tf::GetNodeAttr(node.attrs(), "transpose_a", &transposes_left));
    TF_RETURN_IF_ERROR(
        tf::GetNodeAttr(node.attrs(), "transpose_b", &transposes_right));
    Value left;
    TF_RETURN_IF_ERROR(Rows(node, 0, &left));
    Value right;
    TF_RETURN_IF_ERROR(Input(node, 1, &right));
    if (left.shape.size() != 1 || right.dtype != block_.dtype) {
      return Refuse("another shape");
    }
    if (transposes_left) {
      TF_RETURN_IF_ERROR(Rows(node, 1, &right));
      if (transposes_right || right.shape.size() != 1) {
        return Refuse("another shape");
      }
      Value sum;
      sum.kind = Value::Kind::kSum;
      sum.shape = {left.shape[0], right.shape[0]};
      sum.dtype = block_.dtype;
      sum.id = block_.graph.Outer(left.id, right.id);
      return Set(node, 0, sum);
    }
    if (right.kind != Value::Kind::kInvariant || right.shape.size() != 2) {
      return Refuse("no matrix that is the same for all rows");
    }
    const int64_t depth = right.shape[transposes_right ? 1 : 0];
    if (depth != left.shape[0] || depth == 0) return Refuse("another depth");
    Value product = left;
    product.shape = {right.shape[transposes_right ? 0 : 1]};
    product.id = block_.graph.Product(left.id, right.id, transposes_right,
                                      product.shape[0]);
    return Set(node, 0, product);
  }

  absl::Status ReadReduction(const tf::Node& node, Reduction reduction) {
    Value value;
    TF_RETURN_IF_ERROR(Rows(node, 0, &value));
    Shape axes;
    TF_RETURN_IF_ERROR(Integers(node, 1, &axes));
    bool keeps = false;
    TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "keep_dims", &keeps));
    const auto rank = static_cast<int64_t>(value.shape.size()) + 1;
    for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
    std::sort(axes.begin(), axes.end());
    Value reduced = value;
    if (axes == Shape{0} && reduction == Reduction::kSum && !keeps) {
      reduced.kind = Value::Kind::kSum;
      reduced.id = block_.graph.ColumnSums(value.id);
      return Set(node, 0, reduced);
    }
    Shape all(value.shape.size());
    std::iota(all.begin(), all.end(), int64_t{1});
    if (all.empty() || axes != all) return Refuse("another axis");
    reduced.shape = keeps ? Shape(all.size(), 1) : Shape();
    reduced.id = block_.graph.Reduce(reduction, value.id);
    return Set(node, 0, reduced);
  }

  absl::Status ReadSoftmax(const tf::Node& node) {
    Value value;
    TF_RETURN_IF_ERROR(Rows(node, 0, &value));
    if (value.shape.size() != 1) return Refuse("another shape");
    BlockGraph& graph = block_.graph;
    const int32_t most = graph.Reduce(Reduction::kMax, value.id);
    const int32_t exp = graph.Elementwise(
        Opcode::kExp, {graph.Elementwise(Opcode::kSub, {value.id, most})});
    value.id = graph.Elementwise(Opcode::kDiv,
                                 {exp, graph.Reduce(Reduction::kSum, exp)});
    return Set(node, 0, value);
  }

  // ---- Lookups.

  absl::Status ReadGather(const tf::Node& node) {
    const bool is_variable = node.type_string() == "ResourceGather";
    Value table;
    Value number;
    TF_RETURN_IF_ERROR(Input(node, 0, &table));
    TF_RETURN_IF_ERROR(Input(node, 1, &number));
    int32_t batch_dims = 0;
    TF_RETURN_IF_ERROR(
        tf::GetNodeAttr(node.attrs(), "batch_dims", &batch_dims));
    Shape axis = {0};
    if (!is_variable) {
      axis.clear();
      TF_RETURN_IF_ERROR(Integers(node, 2, &axis));
    }
    if (table.kind != Value::Kind::kInvariant ||
        number.kind != Value::Kind::kNumber || !number.shape.empty() ||
        batch_dims != 0 || axis[0] != 0) {
      return Refuse("another lookup");
    }
    if (is_variable) return ReadRows(node, table, number, is_variable);
    if (table.shape.size() == 1 &&
        (table.dtype == tf::DT_INT32 || table.dtype == tf::DT_INT64)) {
      Value selected = number;
      selected.dtype = table.dtype;
      selected.id = AddNumber({-1, table.id, number.id, table.dtype});
      return Set(node, 0, selected);
    }
    return ReadRows(node, table, number, is_variable);
  }

  absl::Status ReadRows(const tf::Node& node, const Value& table,
                        const Value& number, bool is_variable) {
    Value rows;
    if (is_variable) {
      tf::DataType dtype = tf::DT_FLOAT;
      TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "dtype", &dtype));
      if (dtype != block_.dtype) return Refuse("another dtype");
    } else if (table.dtype != block_.dtype) {
      return Refuse("another dtype");
    }
    // That of the variable, as it was when the shapes were found.
    if (table.shape.empty()) return Refuse("no rows");
    rows.shape.assign(table.shape.begin() + 1, table.shape.end());
    rows.dtype = block_.dtype;
    rows.id = block_.graph.Input(
        num_rows_arguments_ + static_cast<int32_t>(block_.lookups.size()),
        SizeOf(rows.shape));
    block_.lookups.push_back(
        {table.id, number.id, is_variable, SizeOf(rows.shape)});
    return Set(node, 0, rows);
  }

  absl::Status AddOutput(const Value& value) {
    BlockOutput output;
    output.shape = value.shape;
    switch (value.kind) {
      case Value::Kind::kNumber: {
        const RowNumber& number = block_.numbers[value.id];
        const bool is_given = number.argument >= 0;
        output.kind = is_given ? BlockOutput::Kind::kArgument
                               : BlockOutput::Kind::kNumber;
        output.index = is_given ? number.argument : value.id;
        break;
      }
      case Value::Kind::kRows: {
        const auto argument = argument_of_node_.find(value.id);
        if (argument != argument_of_node_.end()) {
          output.kind = BlockOutput::Kind::kArgument;
          output.index = argument->second;
          break;
        }
        if (block_.graph[value.id].width != SizeOf(value.shape)) {
          return Refuse("an output that is the same in all columns");
        }
        [[fallthrough]];
      }
      case Value::Kind::kSum:
        output.has_rows = value.kind != Value::Kind::kSum;
        output.index = static_cast<int32_t>(block_.graph.outputs.size());
        block_.graph.outputs.push_back(value.id);
        break;
      default:
        return Refuse("an output that is no rows");
    }
    block_.outputs.push_back(output);
    return absl::OkStatus();
  }

  const tf::Graph& graph_;
  const int32_t num_rows_arguments_;
  const std::vector<BlockArgument>& arguments_;
  ReadBlock& block_;
  std::map<Key, Value> values_;
  // Constants of the function.
  std::vector<tf::Tensor> literals_;
  std::map<int32_t, int32_t> argument_of_node_;
};

}  // namespace

absl::Status ReadBlockGraph(const tf::Graph& graph, int32_t num_rows_arguments,
                            const std::vector<BlockArgument>& arguments,
                            ReadBlock* block) {
  return Reader(graph, num_rows_arguments, arguments, block).Run();
}

}  // namespace recursive_tf
