#include "recursive_tf/cc/blocks/row_sums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/grouped_sum.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/reduce_rows.h"
#include "recursive_tf/cc/blocks/same_rows.h"
#include "recursive_tf/cc/blocks/scratch.h"

namespace recursive_tf {
namespace {

// How many rows are in the cache at a time: as many as fit the first one with a
// panel of the right side. Each time reads and writes all results.
constexpr int64_t kMostDepth = 160;
// From how many on copying them costs more than results that leave the cache.
constexpr int64_t kManyRows = 1024;

// Fewer rows are not worth grouping.
constexpr int64_t kLeastRowsToGroup = 128;

// Returns whether it pays to add up rows first, so that so many are left.
bool PaysToGroup(int64_t num_rows, int64_t num_left) {
  return 10 * num_left <= 9 * num_rows;
}

// Calls `use(rows, width, to)` for each part that has some of `count` columns
// of joined parts from `first` on: with its rows from the first one of these
// on, which is the `to`-th of all.
template <typename T, typename Use>
void ForParts(const std::vector<RowsPart<T>>& parts, int64_t first,
              int64_t count, const Use& use) {
  int64_t offset = 0;
  for (const RowsPart<T>& part : parts) {
    const int64_t from = std::max(offset, first);
    const int64_t last = std::min(offset + part.width, first + count);
    if (from < last) {
      use(part.rows.From(from - offset), last - from, from - first);
    }
    offset += part.width;
  }
}

}  // namespace

template <typename T>
void RowSums<T>::Run(const SumStep& step) {
  const int64_t num_rows = placed_.rows().num_rows[step.axis];
  OuterSum<T> sum;
  sum.left = placed_.PartsAt(step.left);
  sum.right = placed_.PartsAt(step.right);
  sum.num_rows = num_rows;
  sum.out = placed_.rows().sums[step.output];
  sum.adds = step.adds;
  if (step.left.empty()) return SumRows(sum);
  if (!MayGroup(step)) return SumOuter(sum);
  // Each part has rows of its own that are one.
  for (size_t i = 0; i < step.left.size(); ++i) {
    OuterSum<T> part = sum;
    part.left = {sum.left[i]};
    SumOuterOfPart(step.left[i], part);
    sum.out += sum.left[i].width * WidthOf(sum.right);
  }
}

template <typename T>
bool RowSums<T>::MayGroup(const SumStep& step) const {
  const int64_t num_rows = placed_.rows().num_rows[step.axis];
  if (num_rows < kLeastRowsToGroup) return false;
  return std::any_of(step.left.begin(), step.left.end(),
                     [&](const Piece& piece) {
                       return MayGroup(piece, num_rows, WidthOf(step.right));
                     });
}

template <typename T>
bool RowSums<T>::MayGroup(const Piece& piece, int64_t num_rows,
                          int64_t num_columns) const {
  if (piece.place.kind != Place::Kind::kInput) return false;
  const int64_t num_shared = placed_.rows().num_shared[piece.place.index];
  return PaysToGroup(num_rows, num_rows - num_shared) &&
         piece.width * num_columns >= kNumbersWorthComparing;
}

template <typename T>
void RowSums<T>::SumOuterOfPart(const Piece& piece, const OuterSum<T>& sum) {
  if (!MayGroup(piece, sum.num_rows, WidthOf(sum.right))) return SumOuter(sum);
  const EqualRows groups = FindSameRows(sum.left.front().rows, sum.num_rows);
  if (!PaysToGroup(sum.num_rows, groups.num_groups())) return SumOuter(sum);
  const GroupedSum<T> grouped(sum, groups, kernels_, &team_);
  num_flops_spared_ += 2 * (sum.num_rows - groups.num_groups()) * piece.width *
                       WidthOf(sum.right);
  SumOuter(grouped.sum());
}

template <typename T>
void RowSums<T>::SumOuter(const OuterSum<T>& sum) {
  const int64_t num_columns = WidthOf(sum.right);
  const int64_t num_left = WidthOf(sum.left);
  if (sum.num_rows == 0) {
    if (!sum.adds) std::fill_n(sum.out, num_left * num_columns, T(0));
    return;
  }
  const int64_t num_threads = team_.num_threads();
  const bool has_many_rows = sum.num_rows >= kManyRows;
  // Tasks copy their rows and share nothing. So many rows are copied rarely: of
  // the wider side, each task has its own columns.
  const bool is_tall = has_many_rows && num_left > num_columns;
  const std::vector<ColumnPart> parts =
      SplitColumns(num_columns, is_tall ? 1 : num_threads, kernels_.lanes,
                   kernels_.max_vectors);
  const auto num_parts = static_cast<int64_t>(parts.size());
  const int64_t num_splits = is_tall || !has_many_rows ? num_threads : 1;
  const int64_t block =
      RoundUp(DivideUp(num_left, num_splits), kernels_.max_rows);
  const int64_t num_blocks = DivideUp(num_left, block);
  team_.Run(num_blocks * num_parts, [&](int64_t index) {
    const int64_t first = index / num_parts * block;
    SumOuterPart(sum, first, std::min(block, num_left - first), num_columns,
                 parts[index % num_parts]);
  });
}

template <typename T>
void RowSums<T>::SumRows(const OuterSum<T>& sum) {
  const int64_t num_columns = WidthOf(sum.right);
  if (!sum.adds) std::fill_n(sum.out, num_columns, T(0));
  if (sum.num_rows == 0) return;
  const std::vector<ColumnPart> parts = SplitColumns(
      num_columns, team_.num_threads(), kernels_.lanes, kernels_.max_vectors);
  team_.Run(static_cast<int64_t>(parts.size()), [&](int64_t index) {
    const ColumnPart& part = parts[index];
    ForParts(sum.right, part.first_column, part.num_columns,
             [&](const RowSet<T>& rows, int64_t width, int64_t to) {
               ReduceRows(kernels_, Opcode::kAdd, rows, 0, sum.num_rows, width,
                          sum.out + part.first_column + to);
             });
  });
}

// Block of rows after block, so that these stay in cache: copied, because rows
// may stand anywhere, and each is read by many tiles.
template <typename T>
void RowSums<T>::SumOuterPart(const OuterSum<T>& sum, int64_t first_left,
                              int64_t num_left, int64_t num_columns,
                              const ColumnPart& part) {
  const int64_t most =
      DivideUp(sum.num_rows, DivideUp(sum.num_rows, kMostDepth));
  Scratch<T>& scratch = Scratch<T>::Mine();
  T* const groups =
      scratch.products.Get(most * RoundUp(num_left, kernels_.max_rows));
  T* const panel_rows =
      scratch.registers.Get(most * kernels_.max_vectors * kernels_.lanes);
  OuterWork<T> work;
  work.right = panel_rows;
  work.out_stride = num_columns;
  for (int64_t begin = 0; begin < sum.num_rows; begin += most) {
    const int64_t end = std::min(begin + most, sum.num_rows);
    work.depth = end - begin;
    work.adds = sum.adds || begin > 0;
    GroupLeft(sum.left, first_left, num_left, begin, end, groups);
    for (const Panel& panel : part.panels) {
      CopyRight(sum.right, panel, begin, end, panel_rows);
      work.num_vectors = panel.num_vectors;
      work.num_columns = panel.num_columns;
      for (int64_t i = 0; i < num_left; i += kernels_.max_rows) {
        work.left = groups + i * work.depth;
        work.num_left = std::min(kernels_.max_rows, num_left - i);
        work.out =
            sum.out + (first_left + i) * num_columns + panel.first_column;
        kernels_.outer(work);
      }
    }
  }
}

template <typename T>
void RowSums<T>::GroupLeft(const std::vector<RowsPart<T>>& parts, int64_t first,
                           int64_t count, int64_t begin, int64_t end,
                           T* groups) const {
  ForParts(parts, first, count,
           [&](const RowSet<T>& rows, int64_t width, int64_t to) {
             kernels_.group({rows, begin, end, width, end - begin, to, groups});
           });
}

template <typename T>
void RowSums<T>::CopyRight(const std::vector<RowsPart<T>>& parts,
                           const Panel& panel, int64_t begin, int64_t end,
                           T* rows) const {
  const int64_t stride = panel.num_vectors * kernels_.lanes;
  Instruction copy;
  copy.in[0] = 1;
  ForParts(parts, panel.first_column, panel.num_columns,
           [&](const RowSet<T>& from, int64_t width, int64_t to) {
             const RowSet<T> sets[] = {{rows + to - begin * stride, stride},
                                       from};
             kernels_.tail({&copy, 1, sets, begin, end, width});
           });
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace recursive_tf
