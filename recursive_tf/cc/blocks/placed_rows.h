#ifndef RECURSIVE_TF_CC_BLOCKS_PLACED_ROWS_H_
#define RECURSIVE_TF_CC_BLOCKS_PLACED_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// Some columns of rows.
template <typename T>
struct RowsPart {
  RowSet<T> rows;
  int64_t width = 0;
};

// Rows that stand one behind the other, of which numbers select some.
template <typename T>
struct TableRows {
  const T* numbers = nullptr;
  int64_t num_rows = 0;
};

// Columns of an output that whoever takes it adds up, the rows of each group;
// or takes row by row, if there are no groups.
struct AddedColumns {
  int64_t width = 0;
  EqualRows groups;
};

// All columns of an output.
using AddedOutput = std::vector<AddedColumns>;

// The rows that a block program takes and gives.
template <typename T>
struct BlockRows {
  // By axis.
  std::vector<int64_t> num_rows;
  // By number.
  std::vector<RowSet<T>> inputs;
  // By number: how many rows may be one with others, at one address.
  std::vector<int64_t> num_shared;
  // By number: those that numbers of rows select.
  std::vector<TableRows<T>> tables;
  // By number, of the graph's owners: of each item that of the row, rising.
  std::vector<const int64_t*> owners;
  // Rows that stand one behind the other.
  std::vector<T*> buffers;
  // By output: where what rows add up to goes.
  std::vector<T*> sums;
  // By output: which of its rows are added up; null if all are taken. Empty if
  // those of all outputs are.
  std::vector<const AddedOutput*> added;
};

// Where the places of a block program are in one run of it.
//
// Thread safety: immutable.
template <typename T>
class PlacedRows {
 public:
  // All of them must outlive this.
  PlacedRows(const BlockProgram* program, const BlockInvariants<T>* invariants,
             const BlockRows<T>* rows)
      : program_(*program), invariants_(*invariants), rows_(*rows) {
    for (const GatherUse& use : program->gathers) {
      const RowSet<T> owning = At(use.rows);
      const int64_t* const owners = rows->owners[use.owners];
      std::vector<T*>& found = gathered_.emplace_back();
      found.resize(rows->num_rows[use.axis]);
      std::transform(owners, owners + found.size(), found.begin(),
                     [&](int64_t owner) { return owning.row(owner); });
    }
  }

  const BlockRows<T>& rows() const { return rows_; }

  std::vector<RowsPart<T>> PartsAt(const std::vector<Piece>& pieces) const {
    std::vector<RowsPart<T>> parts;
    parts.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      parts.push_back({At(piece.place), piece.width});
    }
    return parts;
  }

  // Returns the rows at a place that is no segment and no register.
  RowSet<T> At(const Place& place) const {
    switch (place.kind) {
      case Place::Kind::kInput:
        return rows_.inputs[place.index].From(place.column);
      case Place::Kind::kShared:
        // Nothing writes to these.
        return {const_cast<T*>(invariants_.shared(place.index)) + place.column,
                0};
      case Place::Kind::kConstant:
        return {const_cast<T*>(invariants_.constant(place.index)), 0};
      case Place::Kind::kGathered:
        return {nullptr, 0, gathered_[place.index].data(), place.column};
      default:
        return {rows_.buffers[place.index] + place.column,
                program_.buffers[place.index].width};
    }
  }

 private:
  const BlockProgram& program_;
  const BlockInvariants<T>& invariants_;
  const BlockRows<T>& rows_;
  // Of the program's gathers: for each item the row that owns it.
  std::vector<std::vector<T*>> gathered_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_PLACED_ROWS_H_
