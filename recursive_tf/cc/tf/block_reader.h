#ifndef RECURSIVE_TF_CC_TF_BLOCK_READER_H_
#define RECURSIVE_TF_CC_TF_BLOCK_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// What a function of rows is given: first rows, then invariants.
struct BlockArgument {
  friend bool operator==(const BlockArgument& a, const BlockArgument& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.widths == b.widths;
  }

  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
  // Of one row, or of all of an invariant; none of a variable.
  std::vector<int64_t> shape;
  // Of rows that stand in several parts: those of the parts.
  std::vector<int64_t> widths{};
};

// What the graph calls an input: an argument or one of its parts, a lookup, a
// whole number, or what is drawn.
struct BlockInput {
  int32_t argument = -1;
  int32_t part = 0;
  int32_t lookup = -1;
  int32_t number = -1;
  int32_t draw = -1;
};

// Rows of a matrix, or of a variable that is one, which numbers select: to the
// graph they are rows that are given, or a table, if it computes the numbers.
struct RowLookup {
  static constexpr int32_t kComputed = -1;

  bool is_computed() const { return number == kComputed; }

  int32_t table = 0;
  int32_t number = 0;
  bool is_variable = false;
  // Of a row.
  int64_t width = 0;
};

// Rows of random numbers, each of which follows from numbers of its own.
struct RowDraw {
  enum class Distribution : uint8_t { kUniform, kNormal, kTruncatedNormal };

  Distribution distribution = Distribution::kUniform;
  int32_t key = 0;
  // Two words.
  int32_t counters[2] = {};
  // Of a row.
  int64_t width = 0;
};

struct BlockOutput {
  enum class Kind : uint8_t { kGraph, kNumber, kArgument };

  Kind kind = Kind::kGraph;
  // Of the graph's outputs, or of the arguments.
  int32_t index = 0;
  // Those that a row is, if it is of numbers.
  std::vector<int32_t> numbers{};
  // That its rows stand along; -1 if it has none.
  int32_t axis = -1;
  // Bools or whole numbers, if what the graph gives is made that.
  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
  // Of one row, or of all.
  std::vector<int64_t> shape;
};

// A function of rows, as a graph that can be compiled.
struct ReadBlock {
  // Of float or double.
  tensorflow::DataType dtype = tensorflow::DT_FLOAT;
  BlockGraph graph;
  // By argument of rows: the axis that they stand along; -1 of what is not
  // read.
  std::vector<int32_t> argument_axes;
  std::vector<BlockInput> inputs;
  std::vector<RowNumber> numbers;
  // The numbers that are the graph's owners.
  std::vector<int32_t> owners;
  std::vector<RowLookup> lookups;
  std::vector<RowDraw> draws;
  // To the graph, numbers and lookups these are further invariants.
  std::vector<tensorflow::Tensor> literals;
  std::vector<BlockOutput> outputs;
};

// Reads the body of a function whose first `num_rows_arguments` arguments are
// rows. Fails if an op is none that can be compiled, and says which.
absl::Status ReadBlockGraph(const tensorflow::Graph& graph,
                            int32_t num_rows_arguments,
                            const std::vector<BlockArgument>& arguments,
                            ReadBlock* block);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_BLOCK_READER_H_
