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
//   for (...) moves.Copy(from, row, 0, to, to_row);
//   moves.Finish();
//
// Rows are of dtypes that are copied as bytes. Their tensors live until Finish.
class RowMoves {
 public:
  // `team` must outlive this.
  explicit RowMoves(Team* team) : team_(*team) {}

  // Copies a part of a row, from element `offset` on, to a row of `to`, or adds
  // it. REQUIRES: the same dtype in both; one that CanAdd to be added. If
  // nothing is added until Finish, no row is copied to twice.
  void Copy(const RowView& from, int64_t row, int64_t offset, const RowView& to,
            int64_t to_row) {
    Move(from, row, offset, to, to_row, /*adds=*/false);
  }
  void Add(const RowView& from, int64_t row, int64_t offset, const RowView& to,
           int64_t to_row) {
    Move(from, row, offset, to, to_row, /*adds=*/true);
  }

  // Does all that was asked for.
  void Finish();

 private:
  struct Row {
    // For the reason that RowRun has one (rows.h).
    Row(const char* from, char* to, bool adds)
        : from(from), to(to), adds(adds) {}

    const char* from;
    char* to;
    bool adds;
  };

  void Move(const RowView& from, int64_t row, int64_t offset, const RowView& to,
            int64_t to_row, bool adds) {
    if (to.num_elements != num_elements_ || to.dtype != dtype_) {
      Finish();
      num_elements_ = to.num_elements;
      dtype_ = to.dtype;
    }
    has_adds_ |= adds;
    const char* const first = static_cast<const char*>(from.data);
    rows_.emplace_back(
        first + row * from.num_bytes + offset * from.element_size,
        static_cast<char*>(to.data) + to_row * to.num_bytes, adds);
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
