#include "recursive_tf/cc/tf/block_reader.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_graph_reader.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/algorithm.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {

namespace tf = tensorflow;

absl::Status BlockGraphReader::Run() {
  TF_RETURN_IF_ERROR(FindDtype());
  block_.argument_axes.assign(num_rows_arguments_, -1);
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
        return absl::UnimplementedError(absl::StrCat(
            node->type_string(), " '", node->name(), "': ", status.message()));
      }
    }
  }
  for (const auto& [index, value] : returned) {
    TF_RETURN_IF_ERROR(AddOutput(value));
  }
  ResolveAxes();
  return absl::OkStatus();
}

void BlockGraphReader::ResolveAxes() {
  const auto resolve = [this](int32_t* axis) {
    *axis = block_.graph.AxisOf(*axis);
  };
  for (int32_t& axis : block_.argument_axes) resolve(&axis);
  for (RowNumber& number : block_.numbers) resolve(&number.axis);
  for (BlockOutput& output : block_.outputs) resolve(&output.axis);
}

absl::Status BlockGraphReader::FindDtype() {
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

absl::Status BlockGraphReader::Input(const tf::Node& node, int index,
                                     Value* value) const {
  const tf::Edge* edge = nullptr;
  TF_RETURN_IF_ERROR(node.input_edge(index, &edge));
  const auto found = values_.find({edge->src()->id(), edge->src_output()});
  if (found == values_.end()) return Refuse("an input that is not read");
  *value = found->second;
  return absl::OkStatus();
}

absl::Status BlockGraphReader::Set(const tf::Node& node, int output,
                                   const Value& value) {
  // Phases share columns among threads.
  if (HasRows(value) && SizeOf(value.shape) == 0) {
    return Refuse("no columns");
  }
  const bool is_of_graph = HasRows(value) || value.kind == Value::Kind::kSum ||
                           value.kind == Value::Kind::kWholeRows;
  if (is_of_graph && block_.graph[value.id].axis < 0 &&
      block_.graph[value.id].kind != NodeKind::kConstant) {
    return Refuse("no rows");
  }
  values_[{node.id(), output}] = value;
  return absl::OkStatus();
}

absl::Status BlockGraphReader::Read(const tf::Node& node) {
  const std::string& type = node.type_string();
  if (node.IsArg()) return ReadArgument(node);
  if (type == "Const") return ReadConstant(node);
  // What only orders ops has no value.
  if (type == "NoOp") return absl::OkStatus();
  if (IsOfNumbers(node)) return ReadEach(node);
  if (IsElementwise(node)) return ReadElementwise(node);
  if (HasFormula(node)) return ReadFormula(node);
  if (IsReduction(node)) return ReadReduction(node);
  static const auto* const readers = new std::map<std::string, Reader>{
      {"AddN", &BlockGraphReader::ReadAddN},
      {"ArgMax", &BlockGraphReader::ReadArgMax},
      {"ArgMin", &BlockGraphReader::ReadArgMax},
      {"BatchMatMulV2", &BlockGraphReader::ReadBatchMatMul},
      {"BiasAddGrad", &BlockGraphReader::ReadBiasAddGrad},
      {"Bitcast", &BlockGraphReader::ReadBitcast},
      {"BroadcastTo", &BlockGraphReader::ReadBroadcast},
      {"Cast", &BlockGraphReader::ReadCast},
      {"ConcatV2", &BlockGraphReader::ReadConcat},
      {"Cumsum", &BlockGraphReader::ReadCumsum},
      {"ExpandDims", &BlockGraphReader::ReadReshape},
      {"Fill", &BlockGraphReader::ReadFill},
      {"GatherNd", &BlockGraphReader::ReadGatherNd},
      {"GatherV2", &BlockGraphReader::ReadGather},
      {"Identity", &BlockGraphReader::ReadIdentity},
      {"IsFinite", &BlockGraphReader::ReadIsFinite},
      {"IsInf", &BlockGraphReader::ReadIsFinite},
      {"IsNan", &BlockGraphReader::ReadIsFinite},
      {"LogSoftmax", &BlockGraphReader::ReadSoftmax},
      {"LogicalNot", &BlockGraphReader::ReadNot},
      {"MatMul", &BlockGraphReader::ReadMatMul},
      {"OneHot", &BlockGraphReader::ReadOneHot},
      {"Pack", &BlockGraphReader::ReadPack},
      {"Pad", &BlockGraphReader::ReadPad},
      {"Pow", &BlockGraphReader::ReadPow},
      {"PreventGradient", &BlockGraphReader::ReadIdentity},
      {"RecursiveItems", &BlockGraphReader::ReadItems},
      {"RecursiveKeyRows", &BlockGraphReader::ReadKeyRows},
      {"RecursiveNormalRows", &BlockGraphReader::ReadDraw},
      // Of a program, a lookup in an empty table is one out of range.
      {"RecursiveNotEmpty", &BlockGraphReader::ReadIdentity},
      {"RecursiveTruncatedNormalRows", &BlockGraphReader::ReadDraw},
      {"RecursiveUniformRows", &BlockGraphReader::ReadDraw},
      {"RecursiveWantedIds", &BlockGraphReader::ReadWantedIds},
      {"Reshape", &BlockGraphReader::ReadReshape},
      {"ResourceGather", &BlockGraphReader::ReadGather},
      {"ReverseV2", &BlockGraphReader::ReadReverse},
      {"Roll", &BlockGraphReader::ReadRoll},
      {"Shape", &BlockGraphReader::ReadShape},
      {"Sign", &BlockGraphReader::ReadSign},
      {"Slice", &BlockGraphReader::ReadSlice},
      {"Softmax", &BlockGraphReader::ReadSoftmax},
      {"SoftmaxCrossEntropyWithLogits", &BlockGraphReader::ReadCrossEntropy},
      {"SparseSoftmaxCrossEntropyWithLogits",
       &BlockGraphReader::ReadSparseCrossEntropy},
      {"Split", &BlockGraphReader::ReadSplit},
      {"SplitV", &BlockGraphReader::ReadSplitV},
      {"Squeeze", &BlockGraphReader::ReadReshape},
      {"StopGradient", &BlockGraphReader::ReadIdentity},
      {"StridedSlice", &BlockGraphReader::ReadStridedSlice},
      {"StridedSliceGrad", &BlockGraphReader::ReadStridedSliceGrad},
      {"Tile", &BlockGraphReader::ReadTile},
      {"Transpose", &BlockGraphReader::ReadTranspose},
      {"Unpack", &BlockGraphReader::ReadUnpack},
      {"UnsortedSegmentMax", &BlockGraphReader::ReadOfItems},
      {"UnsortedSegmentMin", &BlockGraphReader::ReadOfItems},
      {"UnsortedSegmentSum", &BlockGraphReader::ReadOfItems},
  };
  const auto reader = readers->find(type);
  if (reader == readers->end()) return Refuse("no such instruction");
  return (this->*reader->second)(node);
}

absl::Status BlockGraphReader::ReadArgument(const tf::Node& node) {
  int32_t index = 0;
  TF_RETURN_IF_ERROR(tf::GetNodeAttr(node.attrs(), "index", &index));
  const BlockArgument& argument = arguments_[index];
  Value value;
  value.shape = argument.shape;
  value.dtype = argument.dtype;
  if (index >= num_rows_arguments_) {
    value.kind = Value::Kind::kInvariant;
    value.id = index - num_rows_arguments_;
    return Set(node, 0, value);
  }
  // Which rows they are, those who read them say.
  const int32_t axis = block_.graph.AddAxis();
  if (argument.dtype == block_.dtype ||
      (argument.dtype == tf::DT_BOOL && SizeOf(argument.shape) > 1)) {
    value.id = ReadParts(index, axis);
    argument_of_node_[value.id] = index;
  } else if (IsWholeNumber(argument.dtype) || IsKey(argument.dtype)) {
    block_.argument_axes[index] = axis;
    return ReadArgumentOfNumbers(node, index, axis);
  } else {
    // Refused if anything reads it.
    return absl::OkStatus();
  }
  block_.argument_axes[index] = axis;
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::ReadArgumentOfNumbers(const tf::Node& node,
                                                     int32_t index,
                                                     int32_t axis) {
  const BlockArgument& argument = arguments_[index];
  RowNumber number = {NumberOp::kArgument, argument.dtype, index};
  number.axis = axis;
  std::vector<Value> each;
  // Refused if anything reads it.
  const int64_t size = SizeOf(argument.shape);
  if (!AddColumns(std::move(number), size, &each).ok()) return absl::OkStatus();
  return SetNumbers(node, 0, std::move(each), argument.shape, argument.dtype);
}

int32_t BlockGraphReader::ReadParts(int32_t index, int32_t axis) {
  const BlockArgument& argument = arguments_[index];
  std::vector<int64_t> widths = argument.widths;
  if (widths.empty()) widths = {SizeOf(argument.shape)};
  std::vector<int32_t> ids;
  ids.reserve(widths.size());
  for (size_t part = 0; part < widths.size(); ++part) {
    ids.push_back(
        AddInput({index, static_cast<int32_t>(part)}, widths[part], axis));
  }
  return ids.size() == 1 ? ids.front() : block_.graph.Concat(ids);
}

int32_t BlockGraphReader::AddInput(const BlockInput& input, int64_t width,
                                   int32_t axis) {
  block_.inputs.push_back(input);
  return block_.graph.Input(static_cast<int32_t>(block_.inputs.size()) - 1,
                            width, axis);
}

absl::Status BlockGraphReader::ReadConstant(const tf::Node& node) {
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

void BlockGraphReader::TakeAsInvariant(Value* value) {
  if (value->kind != Value::Kind::kLiteral) return;
  block_.literals.push_back(literals_[value->id]);
  value->kind = Value::Kind::kInvariant;
  value->id = static_cast<int32_t>(arguments_.size()) - num_rows_arguments_ +
              static_cast<int32_t>(block_.literals.size()) - 1;
}

absl::Status BlockGraphReader::Integers(const tf::Node& node, int input,
                                        Shape* numbers) const {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, input, &value));
  if (value.kind == Value::Kind::kShape) {
    const Shape& sizes = shapes_[value.id];
    numbers->insert(numbers->end(), sizes.begin(), sizes.end());
    return absl::OkStatus();
  }
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

absl::Status BlockGraphReader::ReadIdentity(const tf::Node& node) {
  Value value;
  TF_RETURN_IF_ERROR(Input(node, 0, &value));
  return Set(node, 0, value);
}

absl::Status BlockGraphReader::Rows(const tf::Node& node, int input,
                                    Value* value) {
  TF_RETURN_IF_ERROR(Input(node, input, value));
  return AsRows(value);
}

absl::Status BlockGraphReader::AsRows(Value* value) {
  if (value->kind != Value::Kind::kRows) {
    return Refuse("an input that is no rows");
  }
  FillColumns(value);
  return absl::OkStatus();
}

void BlockGraphReader::FillColumns(Value* value) {
  BlockGraph& graph = block_.graph;
  const int64_t size = SizeOf(value->shape) * value->num_folded;
  if (graph[value->id].width == size) return;
  value->id =
      graph.Elementwise(Opcode::kMul, {value->id, graph.Constant(1, size)});
}

absl::Status BlockGraphReader::FindNumbersOf(const Value& value,
                                             BlockOutput* output) {
  std::vector<Value> each;
  TF_RETURN_IF_ERROR(Each(value, &each));
  TF_RETURN_IF_ERROR(JoinRows(&each));
  if (each.empty() || each[0].kind != Value::Kind::kNumber) {
    return Refuse("an output that is the same for all");
  }
  const RowNumber& first = block_.numbers[each[0].id];
  bool is_given = first.num_columns == static_cast<int32_t>(each.size());
  output->kind = BlockOutput::Kind::kNumber;
  output->axis = first.axis;
  for (size_t i = 0; i < each.size(); ++i) {
    const RowNumber& number = block_.numbers[each[i].id];
    is_given = is_given && number.op == NumberOp::kArgument &&
               number.tensor == first.tensor &&
               number.column == static_cast<int32_t>(i);
    output->numbers.push_back(each[i].id);
  }
  if (!is_given) return absl::OkStatus();
  output->kind = BlockOutput::Kind::kArgument;
  output->index = first.tensor;
  output->numbers.clear();
  return absl::OkStatus();
}

absl::Status BlockGraphReader::AddOutput(Value value) {
  BlockOutput output;
  output.dtype = value.dtype;
  output.shape = value.shape;
  switch (value.kind) {
    case Value::Kind::kNumber:
    case Value::Kind::kNumbers:
      TF_RETURN_IF_ERROR(FindNumbersOf(value, &output));
      break;
    case Value::Kind::kWholeRows:
    case Value::Kind::kRows: {
      FillColumns(&value);
      output.axis = block_.graph[value.id].axis;
      if (output.axis < 0) return Refuse("an output that is the same for all");
      const auto argument = argument_of_node_.find(value.id);
      if (argument != argument_of_node_.end()) {
        output.kind = BlockOutput::Kind::kArgument;
        output.index = argument->second;
        break;
      }
      [[fallthrough]];
    }
    case Value::Kind::kSum:
      output.index = static_cast<int32_t>(block_.graph.outputs.size());
      block_.graph.outputs.push_back(value.id);
      break;
    default:
      return Refuse("an output that is no rows");
  }
  block_.outputs.push_back(output);
  return absl::OkStatus();
}

absl::Status ReadBlockGraph(const tf::Graph& graph, int32_t num_rows_arguments,
                            const std::vector<BlockArgument>& arguments,
                            ReadBlock* block) {
  return BlockGraphReader(graph, num_rows_arguments, arguments, block).Run();
}

}  // namespace recursive_tf
