#ifndef RECURSIVE_TF_CC_TF_ROW_MOVES_H_
#define RECURSIVE_TF_CC_TF_ROW_MOVES_H_

#include <cstdint>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/team.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {

// Rows that are to be copied or added, and then are, many at once, by a team:
// one thread does all that goes to a row, so that what is added to it is added
// in the order in which it was asked for.
//
//   RowMoves moves(&team);
//   for (...) moves.Copy(from.At(row), to, to_row);
//   moves.Finish();
//
// Rows are of dtypes that are copied as bytes. Their tensors live until Finish.
class RowMoves {
 public:
  // `team` must outlive this.
  explicit RowMoves(Team* team) : team_(*team) {}

  // Copies as many elements as a row of `to` has, of its dtype, to this row, or
  // adds them. REQUIRES: a dtype that CanAdd to be added. If nothing is added
  // until Finish, no row is copied to twice.
  void Copy(const void* from, const RowView& to, int64_t to_row) {
    Move(from, to, to_row, /*adds=*/false);
  }
  void Add(const void* from, const RowView& to, int64_t to_row) {
    Move(from, to, to_row, /*adds=*/true);
  }

  // Does all that was asked for.
  void Finish();

 private:
  struct Row {
    // For the reason that RowRun has one (rows.h).
    Row(const void* from, void* to, bool adds)
        : from(static_cast<const char*>(from)),
          to(static_cast<char*>(to)),
          adds(adds) {}

    const char* from;
    char* to;
    bool adds;
  };

  void Move(const void* from, const RowView& to, int64_t to_row, bool adds) {
    if (to.num_elements != num_elements_ || to.dtype != dtype_) {
      Finish();
      num_elements_ = to.num_elements;
      dtype_ = to.dtype;
    }
    has_adds_ |= adds;
    rows_.emplace_back(from, to.At(to_row), adds);
  }
  // Does what goes to rows of one thread, in order.
  void MoveRowsOf(int64_t thread, int64_t num_threads, int64_t row_bytes) const;
  // Does the part of a thread, where every row is only copied to.
  void CopyPart(int64_t thread, int64_t num_threads, int64_t row_bytes) const;

  Team& team_;
  PooledVector<Row> rows_;
  bool has_adds_ = false;
  // Of all of them.
  int64_t num_elements_ = 0;
  tensorflow::DataType dtype_ = tensorflow::DT_INVALID;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ROW_MOVES_H_
