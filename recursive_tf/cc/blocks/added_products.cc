#include "recursive_tf/cc/blocks/added_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/group_totals.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/same_rows.h"
#include "recursive_tf/cc/blocks/scratch.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// Rows that a thread multiplies, or sets to 0, at a time.
constexpr int64_t kTaskRows = 48;
constexpr int64_t kTaskClears = 1024;

bool Overlaps(const Panel& panel, int64_t begin, int64_t end) {
  return panel.first_column < end &&
         begin < panel.first_column + panel.num_columns;
}

}  // namespace

// The rows that a product takes: one of each group, which is its sum, or all.
template <typename T>
class AddedProducts<T>::Rows {
 public:
  Rows(const std::vector<RowsPart<T>>& parts, int64_t num_rows,
       const EqualRows& groups, const Kernels<T>& kernels, Team* team)
      : groups_(groups), num_pieces_(static_cast<int64_t>(parts.size())) {
    for (const RowsPart<T>& part : parts) lengths_.push_back(part.width);
    const bool are_all = groups.num_groups() == 0;
    if (!are_all) totals_.emplace(parts, groups, kernels, team);
    pieces_.resize(num_rows * num_pieces_);
    for (int64_t piece = 0; piece < num_pieces_; ++piece) {
      for (int64_t i = 0; i < num_rows; ++i) {
        pieces_[i * num_pieces_ + piece] =
            are_all ? parts[piece].rows.row(i) : totals_->rows(piece)[i];
      }
    }
  }

  // Returns rows from one on.
  PiecedRows<T> From(int64_t row, int64_t num_rows) const {
    return {pieces_.data() + row * num_pieces_, lengths_.data(), num_pieces_,
            num_rows};
  }
  // Returns which row of the output is the product of one of these.
  int64_t RowOf(int64_t row) const {
    return groups_.num_groups() == 0 ? row : groups_.firsts()[row];
  }

 private:
  const EqualRows& groups_;
  const int64_t num_pieces_;
  std::vector<int64_t> lengths_;
  std::optional<GroupTotals<T>> totals_;
  PooledVector<const T*> pieces_;
};

template <typename T>
bool AddedProducts<T>::Run(const Phase& phase, size_t product) {
  const ProductStep& step = phase.products[product];
  const bool are_packed = invariants_.matrices() == Matrices::kPacked;
  if (!step.only_of_output.has_value() || !are_packed) return false;
  const MatrixUse& use = program_.matrices[step.matrix];
  const std::vector<Columns> all = ColumnsOf(step, use.segment_width);
  if (all.empty() || use.depth * use.segment_width < kNumbersWorthComparing ||
      !Pays(phase, all)) {
    return false;
  }
  for (const Columns& columns : all) {
    Multiply(phase, step, columns);
    const int64_t num_spared =
        placed_.rows().num_rows[phase.axis] - NumRows(phase, columns);
    num_flops_spared_ +=
        2 * num_spared * use.depth * (columns.end - columns.begin);
  }
  return true;
}

template <typename T>
std::vector<typename AddedProducts<T>::Columns> AddedProducts<T>::ColumnsOf(
    const ProductStep& step, int64_t width) const {
  std::vector<Columns> found;
  const std::vector<const AddedOutput*>& outputs = placed_.rows().added;
  const auto index = static_cast<size_t>(*step.only_of_output);
  const AddedOutput* const output =
      index < outputs.size() ? outputs[index] : nullptr;
  if (output == nullptr) return found;
  int64_t begin = 0;
  for (const AddedColumns& added : *output) {
    const int64_t end = begin + added.width;
    const Columns columns = {std::max(begin - step.out->column, int64_t{0}),
                             std::min(end - step.out->column, width),
                             &added.groups};
    if (columns.begin < columns.end) found.push_back(columns);
    begin = end;
  }
  return found;
}

template <typename T>
int64_t AddedProducts<T>::NumRows(const Phase& phase,
                                  const Columns& columns) const {
  const int64_t num_groups = columns.groups->num_groups();
  return num_groups == 0 ? placed_.rows().num_rows[phase.axis] : num_groups;
}

// A panel in which two of them meet is computed for both.
template <typename T>
bool AddedProducts<T>::Pays(const Phase& phase,
                            const std::vector<Columns>& all) const {
  const int64_t num_rows = placed_.rows().num_rows[phase.axis];
  if (num_rows < kLeastRowsToCompare) return false;
  int64_t numbers = 0;
  int64_t numbers_by_group = 0;
  ForEachPanel(
      invariants_.parts(phase), [&](const Panel& panel, int64_t, int64_t) {
        numbers += panel.num_vectors * num_rows;
        for (const Columns& columns : all) {
          if (!Overlaps(panel, columns.begin, columns.end)) continue;
          numbers_by_group += panel.num_vectors * NumRows(phase, columns);
        }
      });
  return AreFewEnough(numbers, numbers_by_group);
}

template <typename T>
void AddedProducts<T>::Multiply(const Phase& phase, const ProductStep& step,
                                const Columns& columns) {
  const int64_t num_rows = NumRows(phase, columns);
  const Rows rows(placed_.PartsAt(step.pieces), num_rows, *columns.groups,
                  kernels_, &team_);
  team_.Run(DivideUp(num_rows, kTaskRows), [&](int64_t task) {
    MultiplyRows(phase, step, columns, rows, task * kTaskRows,
                 std::min((task + 1) * kTaskRows, num_rows));
  });
  if (columns.groups->num_groups() > 0) ClearOthers(step, columns);
}

template <typename T>
void AddedProducts<T>::MultiplyRows(const Phase& phase, const ProductStep& step,
                                    const Columns& columns, const Rows& rows,
                                    int64_t begin, int64_t end) const {
  const RowSet<T> out = placed_.At(*step.out);
  const int64_t stride = RoundUp(phase.width, kernels_.lanes);
  T* const products = Scratch<T>::Mine().products.Get(kTaskRows * stride);
  PanelWork<T> work;
  static_cast<PiecedRows<T>&>(work) = rows.From(begin, end - begin);
  work.panel_stride = 0;
  work.out_stride = stride;
  ForEachPanel(invariants_.parts(phase), [&](const Panel& panel, int64_t part,
                                             int64_t index) {
    if (!Overlaps(panel, columns.begin, columns.end)) return;
    work.panel = invariants_.packed(step.matrix).panel(0, part, index);
    work.num_vectors = panel.num_vectors;
    work.num_columns = panel.num_columns;
    work.out = products + panel.first_column;
    kernels_.panel(work);
  });
  for (int64_t row = begin; row < end; ++row) {
    const T* const product = products + (row - begin) * stride;
    std::copy(product + columns.begin, product + columns.end,
              out.row(rows.RowOf(row)) + columns.begin);
  }
}

template <typename T>
void AddedProducts<T>::ClearOthers(const ProductStep& step,
                                   const Columns& columns) {
  const RowSet<T> out = placed_.At(*step.out).From(columns.begin);
  const PooledVector<int32_t>& group_of = columns.groups->group_of();
  const auto num_rows = static_cast<int64_t>(group_of.size());
  team_.Run(DivideUp(num_rows, kTaskClears), [&](int64_t task) {
    const int64_t end = std::min((task + 1) * kTaskClears, num_rows);
    for (int64_t row = task * kTaskClears; row < end; ++row) {
      if (columns.groups->firsts()[group_of[row]] == row) continue;
      std::fill_n(out.row(row), columns.end - columns.begin, T(0));
    }
  });
}

template class AddedProducts<float>;
template class AddedProducts<double>;

}  // namespace recursive_tf
