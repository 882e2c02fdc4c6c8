#ifndef RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_
#define RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// The gradients of values while a tape is replayed: the adjoint of a gather
// adds.
//
// As long as each row of a value has one contribution, rows stay where these
// were computed: so it is mostly in trees. With the first row that gets
// another one, the value gets a tensor of its own, of which a row is written
// the first time and added to from then on. So nothing is filled with zeros
// only to be added to.
//
// RowOps is
//   // Rows as blocks take them: made of a Tensor, or of where rows stand.
//   using Kept = ...;
//   int32_t NumRows(const Tensor&);
//   int64_t NumBytes(const Tensor&);
//   // Elements of a row of a value.
//   int64_t RowSize(int32_t value);
//   // The gradient of a value, not set.
//   Tensor Allocate(int32_t value);
//   // The rows of a tensor, found once to read or write many.
//   ... View(const Tensor&);
//   // Where element `offset` of a row stands: a pointer.
//   ... At(view, int64_t row, int64_t offset);
//   // Copies or adds as many elements as a row of `to` has.
//   void Copy(from, to, int64_t to_row);
//   void Add(from, to, int64_t to_row);
//   // What these are asked for may be done only here. Tensors live until then.
//   void Finish();
//   void Clear(rows, int64_t row);
//   // Makes `*rows` a tensor that nobody else holds.
//   void Own(Tensor* rows);
//   // Whether blocks can take rows of a value where they stand.
//   bool CanStand(int32_t value);
//   // All rows of a value, which stand in `owners`; zeros where a place is
//   // null.
//   Kept Standing(int32_t value, std::vector<...> places,
//                 std::vector<Tensor> owners);
template <typename Tensor, typename RowOps>
class Adjoints {
 public:
  using Kept = typename RowOps::Kept;

  // Takes how many rows each value has; both must outlive this.
  Adjoints(const std::vector<int32_t>* num_rows, const RowOps* ops)
      : num_rows_(*num_rows), ops_(*ops), adjoints_(num_rows->size()) {}

  // Gradients that are held know this by its address.
  Adjoints(const Adjoints&) = delete;
  Adjoints& operator=(const Adjoints&) = delete;

  // Adds row i of `gradient` to the rows that the i-th row of `joined` is of.
  void Add(const JoinedRows& joined, Tensor gradient) {
    if (joined.size() == 1) return Add(joined.front(), std::move(gradient));
    const auto source = std::make_shared<const Held>(this, std::move(gradient));
    int64_t offset = 0;
    for (const Rows& rows : joined) {
      if (rows.runs().empty()) return;
      AddRows(rows, source, offset, [](int64_t i) { return i; });
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
    AddRows(rows, std::make_shared<const Held>(this, std::move(gradient)), 0,
            [](int64_t i) { return i; });
  }

  // Adds row `sources[i]` of `gradient` instead.
  void Add(const Rows& rows, Tensor gradient,
           const std::vector<int64_t>& sources) {
    AddRows(rows, std::make_shared<const Held>(this, std::move(gradient)), 0,
            [&sources](int64_t i) { return sources[i]; });
  }

  // Returns the gradient of a value, which is forgotten; none if it is zero.
  std::optional<Kept> Take(int32_t value) {
    Adjoint adjoint = std::exchange(adjoints_[value], Adjoint());
    if (adjoint.stands()) {
      std::vector<Tensor> owners;
      owners.reserve(adjoint.owners.size());
      for (const auto& owner : adjoint.owners) owners.push_back(owner->rows);
      return ops_.Standing(value, std::move(adjoint.places), std::move(owners));
    }
    if (!adjoint.rows.has_value()) return std::nullopt;
    const auto rows = ops_.View(*adjoint.rows);
    for (size_t row = 0; row < adjoint.is_written.size(); ++row) {
      if (!adjoint.is_written[row]) {
        ops_.Clear(rows, static_cast<int64_t>(row));
      }
    }
    num_bytes_ -= ops_.NumBytes(*adjoint.rows);
    return Kept(*std::move(adjoint.rows));
  }

  // Of the gradients that were not taken yet, and of those that others stand
  // in.
  int64_t num_bytes() const { return num_bytes_; }

 private:
  using View = decltype(std::declval<const RowOps&>().View(
      std::declval<const Tensor&>()));
  using Place = decltype(std::declval<const RowOps&>().At(
      std::declval<const View&>(), int64_t{0}, int64_t{0}));

  // A gradient in which rows of several values may stand.
  struct Held {
    Held(Adjoints* adjoints, Tensor gradient)
        : rows(std::move(gradient)),
          view(adjoints->ops_.View(rows)),
          holder(*adjoints) {
      holder.num_bytes_ += holder.ops_.NumBytes(rows);
    }
    ~Held() { holder.num_bytes_ -= holder.ops_.NumBytes(rows); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    const Tensor rows;
    const View view;
    Adjoints& holder;
  };

  // Has places, or rows, or neither before there is a contribution.
  struct Adjoint {
    bool stands() const { return !places.empty(); }

    // By row: where it stands; null if it has no contribution.
    std::vector<Place> places;
    std::vector<std::shared_ptr<const Held>> owners;

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
    const Adjoint& adjoint = adjoints_[run.value];
    return !adjoint.stands() && !adjoint.rows.has_value() &&
           run.first_row == 0 && (run.stride == 1 || run.num_rows == 1) &&
           run.num_rows == num_rows_[run.value] &&
           run.num_rows == ops_.NumRows(gradient);
  }

  template <typename SourceOf>
  void AddRows(const Rows& rows, const std::shared_ptr<const Held>& source,
               int64_t offset, const SourceOf& source_of) {
    int64_t i = 0;
    for (const RowRun& run : rows.runs()) {
      Adjoint& adjoint = adjoints_[run.value];
      Prepare(run.value, source);
      for (int32_t k = 0; k < run.num_rows; ++k, ++i) {
        const int64_t row = run.first_row + k * run.stride;
        const Place from = ops_.At(source->view, source_of(i), offset);
        if (adjoint.stands()) {
          if (adjoint.places[row] == nullptr) {
            adjoint.places[row] = from;
            continue;
          }
          GiveOwnRows(run.value);
        }
        AddRow(from, row, &adjoint);
      }
    }
    ops_.Finish();
  }

  // Adds a row to those of a tensor.
  void AddRow(Place from, int64_t row, Adjoint* adjoint) {
    if (adjoint->is_written.empty() || adjoint->is_written[row]) {
      ops_.Add(from, *adjoint->view, row);
    } else {
      ops_.Copy(from, *adjoint->view, row);
      adjoint->is_written[row] = true;
    }
  }

  // Makes that rows of a gradient can be added to a value.
  void Prepare(int32_t value, const std::shared_ptr<const Held>& source) {
    Adjoint& adjoint = adjoints_[value];
    if (adjoint.rows.has_value()) return Open(&adjoint);
    if (!adjoint.stands()) {
      if (!ops_.CanStand(value)) return Allocate(value);
      adjoint.places.assign(num_rows_[value], nullptr);
    }
    if (adjoint.owners.empty() || adjoint.owners.back() != source) {
      adjoint.owners.push_back(source);
    }
  }

  // Makes that the rows of a tensor can be written to.
  void Open(Adjoint* adjoint) {
    if (!adjoint->is_own) {
      ops_.Own(&*adjoint->rows);
      adjoint->is_own = true;
    }
    if (!adjoint->view.has_value()) adjoint->view = ops_.View(*adjoint->rows);
  }

  // Copies rows that stand to a tensor of the value.
  void GiveOwnRows(int32_t value) {
    Adjoint& adjoint = adjoints_[value];
    const std::vector<Place> places = std::exchange(adjoint.places, {});
    Allocate(value);
    for (size_t row = 0; row < places.size(); ++row) {
      if (places[row] == nullptr) continue;
      AddRow(places[row], static_cast<int64_t>(row), &adjoint);
    }
    ops_.Finish();
    adjoint.owners.clear();
  }

  void Allocate(int32_t value) {
    Adjoint& adjoint = adjoints_[value];
    adjoint.is_written.assign(num_rows_[value], false);
    adjoint.rows = ops_.Allocate(value);
    adjoint.view = ops_.View(*adjoint.rows);
    num_bytes_ += ops_.NumBytes(*adjoint.rows);
  }

  const std::vector<int32_t>& num_rows_;
  const RowOps& ops_;
  int64_t num_bytes_ = 0;
  std::vector<Adjoint> adjoints_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_ADJOINTS_H_
