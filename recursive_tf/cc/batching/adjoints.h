#ifndef RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_
#define RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// The gradients of values while a tape is replayed: the adjoint of a gather
// adds. A row is written the first time and added to from then on, so nothing
// is filled with zeros only to be added to.
//
// RowOps is
//   int32_t NumRows(const Tensor&);
//   int64_t NumBytes(const Tensor&);
//   // Elements of a row of a value.
//   int64_t RowSize(int32_t value);
//   // The gradient of a value, not set.
//   Tensor Allocate(int32_t value);
//   // The rows of a tensor, found once to read or write many.
//   ... View(const Tensor&);
//   // From element `offset` of a row on, as many as a row of `to` has.
//   void Copy(from, int64_t row, int64_t offset, to, int64_t to_row);
//   void Add(from, int64_t row, int64_t offset, to, int64_t to_row);
//   // What these are asked for may be done only here. Tensors live until then.
//   void Finish();
//   void Clear(rows, int64_t row);
//   // Makes `*rows` a tensor that nobody else holds.
//   void Own(Tensor* rows);
template <typename Tensor, typename RowOps>
class Adjoints {
 public:
  // Takes how many rows each value has; both must outlive this.
  Adjoints(const std::vector<int32_t>* num_rows, const RowOps* ops)
      : num_rows_(*num_rows), ops_(*ops), adjoints_(num_rows->size()) {}

  // Adds row i of `gradient` to the rows that the i-th row of `joined` is of.
  void Add(const JoinedRows& joined, Tensor gradient) {
    if (joined.size() == 1) return Add(joined.front(), std::move(gradient));
    int64_t offset = 0;
    for (const Rows& rows : joined) {
      if (rows.runs().empty()) return;
      AddRows(rows, gradient, offset, [](int64_t i) { return i; });
      offset += ops_.RowSize(rows.runs().front().value);
    }
  }

  // Adds row i of `gradient` to the value's row that is the i-th of `rows`.
  void Add(const Rows& rows, Tensor gradient) {
    if (IsWhole(rows, gradient)) {
      Adjoint& adjoint = adjoints_[rows.runs().front().value];
      num_bytes_ += ops_.NumBytes(gradient);
      adjoint.rows = std::move(gradient);
      adjoint.is_own = false;
      return;
    }
    AddRows(rows, gradient, 0, [](int64_t i) { return i; });
  }

  // Adds row `sources[i]` of `gradient` instead.
  void Add(const Rows& rows, const Tensor& gradient,
           const std::vector<int64_t>& sources) {
    AddRows(rows, gradient, 0, [&sources](int64_t i) { return sources[i]; });
  }

  // Returns the gradient of a value, which is forgotten; none if it is zero.
  std::optional<Tensor> Take(int32_t value) {
    Adjoint& adjoint = adjoints_[value];
    if (!adjoint.rows.has_value()) return std::nullopt;
    const auto rows = ops_.View(*adjoint.rows);
    for (size_t row = 0; row < adjoint.is_written.size(); ++row) {
      if (!adjoint.is_written[row]) {
        ops_.Clear(rows, static_cast<int64_t>(row));
      }
    }
    num_bytes_ -= ops_.NumBytes(*adjoint.rows);
    std::optional<Tensor> taken = std::exchange(adjoint.rows, std::nullopt);
    adjoint.view.reset();
    adjoint.is_written.clear();
    adjoint.is_own = true;
    return taken;
  }

  // Of the gradients that were not taken yet.
  int64_t num_bytes() const { return num_bytes_; }

 private:
  using View = decltype(std::declval<const RowOps&>().View(
      std::declval<const Tensor&>()));

  struct Adjoint {
    std::optional<Tensor> rows;
    // Of `rows`, once they are written to.
    std::optional<View> view;
    // By row; empty where all of them are.
    std::vector<bool> is_written;
    bool is_own = true;
  };

  // Returns whether `gradient` is that of a whole value, and the first.
  bool IsWhole(const Rows& rows, const Tensor& gradient) const {
    if (rows.runs().size() != 1) return false;
    const RowRun& run = rows.runs().front();
    return !adjoints_[run.value].rows.has_value() && run.first_row == 0 &&
           (run.stride == 1 || run.num_rows == 1) &&
           run.num_rows == num_rows_[run.value] &&
           run.num_rows == ops_.NumRows(gradient);
  }

  template <typename SourceOf>
  void AddRows(const Rows& rows, const Tensor& gradient, int64_t offset,
               const SourceOf& source_of) {
    int64_t i = 0;
    const auto from = ops_.View(gradient);
    for (const RowRun& run : rows.runs()) {
      const View& to = Writable(run.value);
      std::vector<bool>& is_written = adjoints_[run.value].is_written;
      for (int32_t k = 0; k < run.num_rows; ++k, ++i) {
        const int64_t row = run.first_row + k * run.stride;
        if (is_written.empty() || is_written[row]) {
          ops_.Add(from, source_of(i), offset, to, row);
        } else {
          ops_.Copy(from, source_of(i), offset, to, row);
          is_written[row] = true;
        }
      }
    }
    ops_.Finish();
  }

  // Returns the gradient of a value to write to, made if there is none yet.
  const View& Writable(int32_t value) {
    Adjoint& adjoint = adjoints_[value];
    if (adjoint.view.has_value()) return *adjoint.view;
    if (!adjoint.rows.has_value()) {
      adjoint.is_written.assign(num_rows_[value], false);
      adjoint.rows = ops_.Allocate(value);
      num_bytes_ += ops_.NumBytes(*adjoint.rows);
    } else if (!adjoint.is_own) {
      ops_.Own(&*adjoint.rows);
      adjoint.is_own = true;
    }
    return adjoint.view.emplace(ops_.View(*adjoint.rows));
  }

  const std::vector<int32_t>& num_rows_;
  const RowOps& ops_;
  std::vector<Adjoint> adjoints_;
  int64_t num_bytes_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_
