#ifndef RECURSIVE_TF_CC_TF_BLOCK_GRAPH_READER_H_
#define RECURSIVE_TF_CC_TF_BLOCK_GRAPH_READER_H_

// Of block_reader.h alone. Its bodies are in a file for each kind of op:
// block_reader*.cc.

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/block_value.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// Reads the ops of a function in the order of their values: a method for each
// kind of op, which sets what the op's outputs are.
class BlockGraphReader {
 public:
  BlockGraphReader(const tensorflow::Graph& graph, int32_t num_rows_arguments,
                   const std::vector<BlockArgument>& arguments,
                   ReadBlock* block)
      : graph_(graph),
        num_rows_arguments_(num_rows_arguments),
        arguments_(arguments),
        block_(*block) {}

  absl::Status Run();

 private:
  using Shape = std::vector<int64_t>;
  using Reader =
      absl::Status (BlockGraphReader::*)(const tensorflow::Node& node);

  using Value = BlockValue;
  using Range = AxisRange;

  static absl::Status Refuse(absl::string_view why) {
    return absl::UnimplementedError(why);
  }
  static bool HasRows(const Value& value) {
    return value.kind == Value::Kind::kRows ||
           value.kind == Value::Kind::kFolded;
  }
  static bool IsInteger(tensorflow::DataType dtype) {
    return dtype == tensorflow::DT_INT32 || dtype == tensorflow::DT_INT64;
  }
  static int64_t SizeOf(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                           std::multiplies<>());
  }

  // The dtype of all numbers that are no whole ones.
  absl::Status FindDtype();
  absl::Status Read(const tensorflow::Node& node);
  absl::Status ReadArgument(const tensorflow::Node& node);
  absl::Status ReadArgumentOfNumbers(const tensorflow::Node& node,
                                     int32_t index, int32_t axis);
  // Returns a node for an argument of rows.
  int32_t ReadParts(int32_t index, int32_t axis);
  int32_t AddInput(const BlockInput& input, int64_t width, int32_t axis);
  // Says of all that has rows which axis stands for theirs.
  void ResolveAxes();
  absl::Status ReadConstant(const tensorflow::Node& node);
  absl::Status ReadIdentity(const tensorflow::Node& node);
  absl::Status AddOutput(Value value);
  // Says which numbers an output is, or which argument, if it is just that.
  absl::Status FindNumbersOf(const Value& value, BlockOutput* output);

  // What ops take and give.
  absl::Status Input(const tensorflow::Node& node, int index,
                     Value* value) const;
  // The same, of rows that have all of their columns.
  absl::Status Rows(const tensorflow::Node& node, int input, Value* value);
  absl::Status AsRows(Value* value);
  // Gives all of its columns to what has one that stands for them.
  void FillColumns(Value* value);
  // Reads whole numbers: a constant, or a shape, in which the number of rows is
  // -1, as where a shape is given.
  absl::Status Integers(const tensorflow::Node& node, int input,
                        Shape* numbers) const;
  // Returns the only number of a tensor of float, double or bool.
  static double NumberOf(const tensorflow::Tensor& tensor);
  // Makes a constant one more invariant.
  void TakeAsInvariant(Value* value);
  absl::Status Set(const tensorflow::Node& node, int output,
                   const Value& value);

  // --- block_reader_elementwise.cc

  // Returns whether there is an instruction for an op, of so many operands.
  static bool IsElementwise(const tensorflow::Node& node);
  absl::Status ReadElementwise(const tensorflow::Node& node);
  absl::Status ReadNot(const tensorflow::Node& node);
  absl::Status ReadPow(const tensorflow::Node& node);
  // Returns a power of -1, 1, 2 or 3.
  int32_t Power(int32_t base, int power);
  absl::Status ReadSign(const tensorflow::Node& node);
  // Reads whether numbers are finite, infinite, or NaN.
  absl::Status ReadIsFinite(const tensorflow::Node& node);
  absl::Status ReadCast(const tensorflow::Node& node);
  // Returns the condition of an old kind of choice, which takes whole rows.
  static Value OfWholeRows(Value condition, const std::vector<Value>& operands);
  absl::Status ReadAddN(const tensorflow::Node& node);
  // Sets the sum of two values of one kind.
  absl::Status Add(const Value& left, const Value& right, Value* sum);

  // --- block_reader_formulas.cc

  // Returns whether an op is made of some instructions for each element.
  static bool HasFormula(const tensorflow::Node& node);
  absl::Status ReadFormula(const tensorflow::Node& node);

  // --- block_reader_pieces.cc

  // The most pieces that rows are taken apart into: each has instructions.
  static constexpr int64_t kMostPieces = 64;
  static absl::Status RefusePieces();
  // Adds pieces of one width, in order.
  absl::Status Pieces(int32_t id, int64_t count, std::vector<int32_t>* pieces);
  // Computes rows column by column; operands broadcast as TensorFlow's do.
  absl::Status Elementwise(Opcode opcode, std::vector<Value> operands,
                           Value* value);
  // Gives operands the same number of axes, and returns their shape together.
  static absl::Status BroadcastShape(std::vector<Value>* operands,
                                     Shape* shape);
  size_t AxisOfPieces(const std::vector<Value>& operands,
                      const std::vector<int32_t>& ids,
                      const Shape& shape) const;
  // Adds what each piece, one for each step of outer axes, reads of an operand.
  void AddPieces(const Shape& sizes, int32_t id, const Shape& outer,
                 std::vector<std::vector<int32_t>>* read);
  // Sets `*id` to a node that gives a value for rows of some shape: numbers of
  // the block's dtype, or bools as 1 and 0. It has one column or all of them.
  absl::Status AsOperand(const Value& value, const Shape& shape, int32_t* id);
  // The same of what may have to be broadcast.
  absl::Status AsAnyOperand(const Value& value, const Shape& shape,
                            int32_t* id);
  // Returns whether a tensor is the same for each row, and within a row, if it
  // is smaller, again and again.
  static bool Repeats(Shape part, const Shape& shape);

  // --- block_reader_columns.cc

  // Of a column that is 0.
  static constexpr int64_t kZero = -1;
  // Returns which column of a row of some shape is at an index.
  static int64_t ColumnAt(const Shape& shape, const Shape& index);
  // Returns what a function gives for each index of a shape, in order.
  static std::vector<int64_t> Columns(
      const Shape& shape,
      const std::function<int64_t(const Shape&)>& column_of);
  // Returns for each index of a shape which column of another it is; beyond the
  // last step of an axis its first one comes again.
  static std::vector<int64_t> ColumnsModulo(const Shape& shape,
                                            const Shape& from);
  // Makes a value rows of some of its columns.
  absl::Status Pick(const std::vector<int64_t>& columns, Shape shape,
                    Value* value);
  // The same of the column that a function gives for each index.
  absl::Status PickBy(Shape shape,
                      const std::function<int64_t(const Shape&)>& column_of,
                      Value* value);
  // The same of those of ColumnsModulo.
  absl::Status PickModulo(Shape shape, Value* value);
  // Finds which of the axes within rows an op means, which counts that of the
  // rows, too.
  static absl::Status AxisInRow(int64_t axis, size_t rank, int64_t* along);
  // Reads rows, and the axis within them that another input is.
  absl::Status RowsAlong(const tensorflow::Node& node, int input,
                         int axis_input, Value* value, int64_t* along);
  // Joins rows along an axis.
  absl::Status Join(const std::vector<Value>& values, int64_t along,
                    Value* joined);
  absl::Status ReadConcat(const tensorflow::Node& node);
  absl::Status ReadPack(const tensorflow::Node& node);
  absl::Status ReadPad(const tensorflow::Node& node);
  absl::Status ReadBroadcast(const tensorflow::Node& node);
  absl::Status ReadTile(const tensorflow::Node& node);
  absl::Status ReadTranspose(const tensorflow::Node& node);
  absl::Status ReadReverse(const tensorflow::Node& node);
  absl::Status ReadRoll(const tensorflow::Node& node);
  // Takes the same columns of all rows.
  absl::Status GatherColumns(const tensorflow::Node& node, const Value& indices,
                             int64_t axis, Value value);

  // --- block_reader_slices.cc

  absl::Status ReadUnpack(const tensorflow::Node& node);
  absl::Status ReadSplit(const tensorflow::Node& node);
  absl::Status ReadSplitV(const tensorflow::Node& node);
  absl::Status ReadSlice(const tensorflow::Node& node);
  absl::Status ReadStridedSlice(const tensorflow::Node& node);
  absl::Status ReadStridedSliceGrad(const tensorflow::Node& node);
  // Sets outputs to parts of rows, one behind the other along an axis, which
  // goes if each part is of one step.
  absl::Status SetParts(const tensorflow::Node& node, const Value& value,
                        int64_t along, const Shape& counts, bool keeps_axis);
  // Takes ranges of the axes of a row.
  absl::Status TakeRanges(const std::vector<Range>& ranges, Value* value);
  static std::vector<int64_t> ColumnsOf(const std::vector<Range>& ranges,
                                        const Shape& from);
  absl::Status RangesOf(const tensorflow::Node& node, const Shape& shape,
                        std::vector<Range>* ranges) const;
  // The same of the axes within rows, if it takes all rows.
  absl::Status RangesOfRow(const tensorflow::Node& node, Shape row,
                           std::vector<Range>* ranges) const;

  // --- block_reader_shapes.cc

  absl::Status ReadReshape(const tensorflow::Node& node);
  absl::Status ReshapeSum(const tensorflow::Node& node, Value* sum) const;
  absl::Status ShapeExpanded(const tensorflow::Node& node, const Shape& row,
                             Shape* shape) const;
  static absl::Status ShapeSqueezed(const tensorflow::Node& node,
                                    const Shape& row, Shape* shape);
  // Makes rows several rows of one, or one of several.
  static void Fold(int64_t num_folded, Value* value);
  absl::Status ReadFill(const tensorflow::Node& node);

  // --- block_reader_sizes.cc

  absl::Status ReadShape(const tensorflow::Node& node);
  // Sets the op's output to a shape; `sizes` are its elements.
  absl::Status SetShape(const tensorflow::Node& node, Shape sizes,
                        bool is_one_size);
  absl::Status SliceShape(const tensorflow::Node& node);
  absl::Status PackShape(const tensorflow::Node& node);
  absl::Status ReshapeShape(const tensorflow::Node& node, const Value& value);

  // --- block_reader_products.cc

  absl::Status ReadMatMul(const tensorflow::Node& node);
  // Reads rows, and adds the node of each of those that stand in one.
  absl::Status FoldedRows(const tensorflow::Node& node, int input, Value* value,
                          std::vector<int32_t>* rows);
  absl::Status ReadBatchMatMul(const tensorflow::Node& node);

  // --- block_reader_reductions.cc

  static bool IsReduction(const tensorflow::Node& node);
  absl::Status ReadReduction(const tensorflow::Node& node);
  // Leaves one step along each reduced axis of a row.
  absl::Status ReduceAxes(Reduction reduction,
                          const std::vector<bool>& is_reduced, Value* value);
  absl::Status ReadCumsum(const tensorflow::Node& node);
  absl::Status ReadBiasAddGrad(const tensorflow::Node& node);

  // --- block_reader_softmax.cc

  // What a softmax of a row is made of: the row beside its largest number, the
  // exponentials of that, and their sum.
  struct Exponentials {
    int32_t logits = 0;
    int32_t exps = 0;
    int32_t sum = 0;
  };
  Exponentials ExponentialsOf(int32_t row);
  // Returns minus the logarithms of the softmax.
  int32_t Surprises(const Exponentials& of);
  absl::Status ReadSoftmax(const tensorflow::Node& node);
  // Reads rows that are one vector each.
  absl::Status ReadLogits(const tensorflow::Node& node, Value* logits);
  absl::Status ReadCrossEntropy(const tensorflow::Node& node);
  absl::Status ReadSparseCrossEntropy(const tensorflow::Node& node);
  // Sets the op's loss, the sum of some columns, and its gradient.
  absl::Status SetCrossEntropy(const tensorflow::Node& node,
                               const Value& logits, const Exponentials& of,
                               int32_t summands, int32_t labels);
  absl::Status ReadOneHot(const tensorflow::Node& node);
  // Sets `*id` to rows that are 1 in the column of a number of each row, and
  // else 0.
  absl::Status IsColumn(int32_t number, int64_t width, int32_t* id);

  // --- block_reader_numbers.cc

  // Returns whether an op computes whole numbers of those of each row.
  bool IsOfNumbers(const tensorflow::Node& node) const;
  // Returns whole numbers as rows of the block's dtype; bools stay bools, which
  // are 1 and 0.
  Value RowsOfNumber(const Value& number);
  // Sets `*id` to the number that a value is, for each row.
  absl::Status AsNumber(const Value& value, int32_t* id);
  // The same also of keys.
  absl::Status AsAnyNumber(const Value& value, int32_t* id);
  // Puts a number for each row in a vector of one, or takes it out.
  absl::Status ReshapeNumber(const tensorflow::Node& node, Value number);
  absl::Status ReadGather(const tensorflow::Node& node);
  absl::Status ReadGatherNd(const tensorflow::Node& node);
  absl::Status ReadElements(const tensorflow::Node& node, const Value& table,
                            const Value& number, bool is_zero_outside);
  absl::Status ReadRows(const tensorflow::Node& node, const Value& table,
                        const Value& number, bool is_variable);
  absl::Status ReadWantedIds(const tensorflow::Node& node);
  int32_t AddNumber(RowNumber number);

  // --- block_reader_several_numbers.cc

  // Returns whether an input of an op is keys, or several numbers a row.
  bool TakesNumbers(const tensorflow::Node& node) const;
  Value ScalarLiteral(tensorflow::Tensor tensor);
  // Adds a value to `*each` for each whole number that a row has of one: a
  // number, a constant, or an invariant.
  absl::Status Each(Value value, std::vector<Value>* each);
  // Sets an output to those of a row.
  absl::Status SetNumbers(const tensorflow::Node& node, int output,
                          std::vector<Value> each, Shape shape,
                          tensorflow::DataType dtype);
  // Makes values numbers of the same rows, if one of them has rows.
  absl::Status JoinRows(std::vector<Value>* each);
  // Adds a number for each column of an argument or of a table.
  absl::Status AddColumns(RowNumber number, int64_t num_columns,
                          std::vector<Value>* each);
  // Adds a number that is computed of others, one of which has rows.
  absl::Status Computed(NumberOp op, tensorflow::DataType dtype,
                        const std::vector<Value>& operands,
                        std::vector<Value>* each);
  // Computes whole numbers: of several ones a row, one by one.
  absl::Status ReadEach(const tensorflow::Node& node);
  absl::Status CastEach(const tensorflow::Node& node);
  absl::Status PackNumbers(const tensorflow::Node& node, int64_t axis);
  absl::Status UnpackNumbers(const tensorflow::Node& node);
  absl::Status JoinNumbers(const tensorflow::Node& node, int64_t axis);
  absl::Status SliceNumbers(const tensorflow::Node& node);
  // Reads the element of a table that a row's numbers say.
  absl::Status ReadElementAt(const tensorflow::Node& node, const Value& table,
                             const Value& numbers);
  // Gives each row constants.
  absl::Status BroadcastNumbers(const tensorflow::Node& node);

  // --- block_reader_random.cc

  absl::Status ReadBitcast(const tensorflow::Node& node);
  absl::Status ReadKeyRows(const tensorflow::Node& node);
  absl::Status ReadDraw(const tensorflow::Node& node);

  // --- block_reader_whole_rows.cc

  static constexpr char kComputedNumbers[] =
      "whole numbers that the block computes";
  // Makes a value a constant vector of the block's dtype; and that of 0, 1, 2
  // and so on.
  void AddLiteral(const std::vector<double>& numbers, Value* value);
  absl::Status CountingNumbers(int64_t count, Value* numbers);
  static bool HasWholeRows(const std::vector<Value>& values);
  // Makes whole rows the rows that the graph has. Returns whether it did.
  static bool TakeWholeRows(Value* value);
  // Compares whole rows, or computes with them.
  absl::Status ReadWholeRows(const tensorflow::Node& node, Opcode opcode,
                             std::vector<Value> operands);
  // Makes an operand rows of the block's dtype. Of numbers that are given with
  // each row it is not known how large they are.
  absl::Status AsWholeOperand(bool may_be_given, Value* operand);
  absl::Status CastWholeRows(const tensorflow::Node& node, Value value);
  // Sets an output to whole rows, none of which is beyond `most`.
  absl::Status SetWholeRows(const tensorflow::Node& node, Value value,
                            int64_t most);
  // Reads where in a row the largest number is, or the least.
  absl::Status ReadArgMax(const tensorflow::Node& node);

  // --- block_reader_lists.cc

  absl::Status ReadItems(const tensorflow::Node& node);
  // Returns which of the graph's owners a value is; -1 if it is none.
  int32_t OwnersOf(const Value& value) const;
  absl::Status ReadOfOwner(const tensorflow::Node& node, Value value,
                           const Value& owner);
  absl::Status ReadOfItems(const tensorflow::Node& node);

  const tensorflow::Graph& graph_;
  const int32_t num_rows_arguments_;
  const std::vector<BlockArgument>& arguments_;
  ReadBlock& block_;
  // By op and output.
  std::map<std::pair<int, int>, Value> values_;
  // Constants of the function.
  std::vector<tensorflow::Tensor> literals_;
  std::vector<Shape> shapes_;
  // By what is several of them: each.
  std::vector<std::vector<Value>> numbers_;
  std::map<int32_t, int32_t> argument_of_node_;
  // By number: the node that it is as rows.
  std::map<int32_t, int32_t> node_of_number_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_GRAPH_READER_H_
