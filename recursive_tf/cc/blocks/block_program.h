#ifndef RECURSIVE_TF_CC_BLOCKS_BLOCK_PROGRAM_H_
#define RECURSIVE_TF_CC_BLOCKS_BLOCK_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/packed_matrix.h"

namespace recursive_tf {

// Where instructions and products find rows, from a column on.
struct Place {
  enum class Kind : uint8_t {
    // Rows that the block takes.
    kInput,
    // A vector that stands for all rows: of BlockProgram::shared, or filled
    // with a number of BlockProgram::constants.
    kShared,
    kConstant,
    // A buffer of the block's: rows that it gives, or that phases hand on.
    kBuffer,
    // Rows that own items: of BlockProgram::gathers.
    kGathered,
    // Of one strip: segment `column` of a product of the same phase; a
    // register.
    kSegment,
    kRegister,
  };
  friend bool operator<(const Place& a, const Place& b);
  friend bool operator==(const Place& a, const Place& b);

  Kind kind = Kind::kInput;
  int32_t index = 0;
  int64_t column = 0;
  // Whether it is this one column, whichever columns a thread works on.
  bool is_one_column = false;
};

// Some columns of the rows at a place.
struct Piece {
  Place place;
  int64_t width = 0;
};

// Returns how many columns pieces have together, or other parts of rows.
template <typename Part>
int64_t WidthOf(const std::vector<Part>& parts) {
  int64_t width = 0;
  for (const Part& part : parts) width += part.width;
  return width;
}

// An invariant that products multiply with.
struct MatrixUse : MatrixLayout {
  int32_t invariant = 0;
};

// An invariant as a vector, repeated to be `width` wide if it is a number.
struct SharedUse {
  int32_t invariant = 0;
  int64_t width = 0;
};

// Rows, of which pieces are joined, times a matrix.
struct ProductStep {
  int32_t matrix = 0;
  std::vector<Piece> pieces;
  // If it is no strip's: where the rows go.
  std::optional<Place> out;
  // The output that they are columns of, if nobody else reads them.
  std::optional<int32_t> only_of_output;
};

// A product of two matrices that stand in each row.
struct RowProductStep {
  Place left;
  Place right;
  Place out;
  RowProductShape shape;
};

// The sums, or the largest or least numbers, of the items that rows own, whose
// numbers are BlockRows::owners.
struct ItemsStep {
  Reduction reduction = Reduction::kSum;
  Place items;
  Place out;
  int32_t owners = 0;
  // That the items stand along.
  int32_t items_axis = 0;
};

// For each row that of a table which the whole number at a place selects.
struct LookUpStep {
  Place number;
  Place out;
  int32_t table = 0;
};

// For each item the row at a place that owns it.
struct GatherUse {
  Place rows;
  int32_t owners = 0;
  // That the items stand along.
  int32_t axis = 0;
};

// What can be computed of a strip of rows, and of some of their columns,
// without what other threads compute meanwhile.
struct Phase {
  // That its rows stand along.
  int32_t axis = 0;
  // Of each value of the phase.
  int64_t width = 0;
  // Whether some instruction needs all columns.
  bool needs_whole_rows = false;
  std::vector<ProductStep> products;
  // Each alone in its phase, of whole rows.
  std::optional<RowProductStep> row_product;
  std::optional<ItemsStep> of_items;
  std::optional<LookUpStep> look_up;
  // What the instructions' numbers stand for.
  std::vector<Place> places;
  std::vector<Instruction> code;
  int32_t num_registers = 0;
};

// A sum over all rows, of outer products or, without `left`, of the rows.
struct SumStep {
  int32_t output = 0;
  // That the rows stand along.
  int32_t axis = 0;
  std::vector<Piece> left;
  std::vector<Piece> right;
  // Whether it is added to what a step before gave the output.
  bool adds = false;
};

// Rows that stand one behind the other.
struct BufferUse {
  friend bool operator==(const BufferUse& a, const BufferUse& b) {
    return a.width == b.width && a.axis == b.axis;
  }

  int64_t width = 0;
  int32_t axis = 0;
};

// A block as it is run: phase after phase, then the sums over rows.
struct BlockProgram {
  std::vector<MatrixUse> matrices;
  std::vector<SharedUse> shared;
  std::vector<double> constants;
  // How many columns of a constant are read.
  int64_t widest_constant = 0;
  std::vector<BufferUse> buffers;
  // In an order in which each may be of one before.
  std::vector<GatherUse> gathers;
  // By output: its buffer; none if it is a sum.
  std::vector<std::optional<int32_t>> output_buffers;
  std::vector<Phase> phases;
  std::vector<SumStep> sums;
};

// Returns the phases of a graph.
BlockProgram Lower(const BlockGraph& graph);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_BLOCK_PROGRAM_H_
