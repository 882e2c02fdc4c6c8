#ifndef RECURSIVE_TF_CC_BATCHING_ROWS_H_
#define RECURSIVE_TF_CC_BATCHING_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace recursive_tf {

// A row of a value. Values are numbered in the order in which they come to be,
// within one root call: an output of the prologue, an argument of the root call
// or an output of a launch is one each, with a row for each of its activations.
struct ValueRow {
  static constexpr int32_t kNoValue = -1;

  friend bool operator==(const ValueRow& a, const ValueRow& b) {
    return a.value == b.value && a.row == b.row;
  }

  int32_t value = kNoValue;
  int32_t row = 0;
};

// Rows that stand side by side in one value, or, with a `stride` of 0, one row
// again and again.
struct RowRun {
  RowRun() = default;
  // So that a vector makes it in its place: one that is copied right after its
  // fields were written waits until they are in the cache.
  RowRun(int32_t value, int32_t first_row, int32_t num_rows, int32_t stride)
      : value(value),
        first_row(first_row),
        num_rows(num_rows),
        stride(stride) {}

  friend bool operator==(const RowRun& a, const RowRun& b) {
    return a.value == b.value && a.first_row == b.first_row &&
           a.num_rows == b.num_rows && a.stride == b.stride;
  }

  int32_t value = ValueRow::kNoValue;
  int32_t first_row = 0;
  int32_t num_rows = 0;
  int32_t stride = 1;
};

// Where the rows of a launch's input come from, in order, in few runs: rows in
// order and side by side are one, and need no copy.
class Rows {
 public:
  void Clear() {
    runs_.clear();
    num_rows_ = 0;
  }

  void Add(ValueRow row) {
    ++num_rows_;
    if (!runs_.empty() && Extend(&runs_.back(), row)) return;
    runs_.emplace_back(row.value, row.row, 1, 1);
  }

  // Sets this to so many rows, of which `row_at` returns each, in order: with
  // less work than to add them one by one.
  template <typename RowAt>
  void Assign(size_t count, const RowAt& row_at) {
    num_rows_ = static_cast<int32_t>(count);
    runs_.resize(count);
    RowRun* next = runs_.data();
    RowRun run;
    for (size_t i = 0; i < count; ++i) {
      const ValueRow row = row_at(i);
      if (Extend(&run, row)) continue;
      if (i > 0) *next++ = run;
      run = RowRun(row.value, row.row, 1, 1);
    }
    if (count > 0) *next++ = run;
    runs_.resize(next - runs_.data());
  }

  void Add(const Rows& rows) {
    num_rows_ += rows.num_rows_;
    runs_.insert(runs_.end(), rows.runs_.begin(), rows.runs_.end());
  }

  const std::vector<RowRun>& runs() const { return runs_; }
  int32_t num_rows() const { return num_rows_; }

 private:
  static bool Extend(RowRun* run, ValueRow row) {
    if (run->value != row.value) return false;
    if (run->num_rows == 1 && row.row == run->first_row) run->stride = 0;
    if (row.row != run->first_row + run->num_rows * run->stride) return false;
    ++run->num_rows;
    return true;
  }

  std::vector<RowRun> runs_;
  int32_t num_rows_ = 0;
};

// What a launch takes as one input: rows, or several rows joined to one.
using JoinedRows = std::vector<Rows>;

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ROWS_H_
