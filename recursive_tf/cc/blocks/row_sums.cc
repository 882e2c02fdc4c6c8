#include "recursive_tf/cc/blocks/row_sums.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/scratch.h"

namespace recursive_tf {
namespace {

// How many rows are in the cache at a time: as many as fit the first one with a
// panel of the right side. Each time reads and writes all results.
constexpr int64_t kMostDepth = 160;
// From how many on copying them costs more than results that leave the cache.
constexpr int64_t kManyRows = 1024;

// Calls `use(piece, from, count, to)` for each piece that has some of `count`
// columns of joined pieces from `first` on: its column `from`, of which the
// first is the `to`-th of these.
template <typename Use>
void ForPieces(const std::vector<Piece>& pieces, int64_t first, int64_t count,
               const Use& use) {
  int64_t offset = 0;
  for (const Piece& piece : pieces) {
    const int64_t from = std::max(offset, first);
    const int64_t last = std::min(offset + piece.width, first + count);
    if (from < last) use(piece, from - offset, last - from, from - first);
    offset += piece.width;
  }
}

}  // namespace

template <typename T>
void RowSums<T>::Run(const SumStep& step) {
  const int64_t num_columns = WidthOf(step.right);
  const int64_t num_left = WidthOf(step.left);
  if (placed_.rows().num_rows[step.axis] == 0) {
    if (step.adds) return;
    const int64_t size = num_columns * (step.left.empty() ? 1 : num_left);
    std::fill_n(placed_.rows().sums[step.output], size, T(0));
    return;
  }
  const int64_t num_threads = team_.num_threads();
  const bool has_many_rows = placed_.rows().num_rows[step.axis] >= kManyRows;
  // Tasks copy their rows and share nothing. So many rows are copied rarely: of
  // the wider side, each task has its own columns.
  const bool is_tall = has_many_rows && num_left > num_columns;
  const std::vector<ColumnPart> parts =
      SplitColumns(num_columns, is_tall ? 1 : num_threads, kernels_.lanes,
                   kernels_.max_vectors);
  const auto num_parts = static_cast<int64_t>(parts.size());
  if (step.left.empty()) {
    team_.Run(num_parts,
              [&](int64_t index) { SumRowsPart(step, parts[index]); });
    return;
  }
  const int64_t num_splits = is_tall || !has_many_rows ? num_threads : 1;
  const int64_t block =
      RoundUp(DivideUp(num_left, num_splits), kernels_.max_rows);
  const int64_t num_blocks = DivideUp(num_left, block);
  team_.Run(num_blocks * num_parts, [&](int64_t index) {
    const int64_t first = index / num_parts * block;
    SumOuterPart(step, first, std::min(block, num_left - first), num_columns,
                 parts[index % num_parts]);
  });
}

template <typename T>
void RowSums<T>::SumRowsPart(const SumStep& step, const ColumnPart& part) {
  T* const sums = placed_.rows().sums[step.output];
  const int64_t num_rows = placed_.rows().num_rows[step.axis];
  if (!step.adds) {
    std::fill_n(sums + part.first_column, part.num_columns, T(0));
  }
  ForPieces(step.right, part.first_column, part.num_columns,
            [&](const Piece& piece, int64_t from, int64_t width, int64_t to) {
              const RowSet<T> sets[] = {{sums + part.first_column + to, 0},
                                        placed_.At(piece.place).From(from)};
              Instruction add;
              add.opcode = Opcode::kAdd;
              add.in[1] = 1;
              kernels_.tail({&add, 1, sets, 0, num_rows, width});
            });
}

// Block of rows after block, so that these stay in cache: copied, because rows
// may stand anywhere, and each is read by many tiles.
template <typename T>
void RowSums<T>::SumOuterPart(const SumStep& step, int64_t first_left,
                              int64_t num_left, int64_t num_columns,
                              const ColumnPart& part) {
  const int64_t num_rows = placed_.rows().num_rows[step.axis];
  const int64_t most = DivideUp(num_rows, DivideUp(num_rows, kMostDepth));
  Scratch<T>& scratch = Scratch<T>::Mine();
  T* const groups =
      scratch.products.Get(most * RoundUp(num_left, kernels_.max_rows));
  T* const panel_rows =
      scratch.registers.Get(most * kernels_.max_vectors * kernels_.lanes);
  OuterWork<T> work;
  work.right = panel_rows;
  work.out_stride = num_columns;
  for (int64_t begin = 0; begin < num_rows; begin += most) {
    const int64_t end = std::min(begin + most, num_rows);
    work.depth = end - begin;
    work.adds = step.adds || begin > 0;
    GroupLeft(step.left, first_left, num_left, begin, end, groups);
    for (const Panel& panel : part.panels) {
      CopyRight(step.right, panel, begin, end, panel_rows);
      work.num_vectors = panel.num_vectors;
      work.num_columns = panel.num_columns;
      for (int64_t i = 0; i < num_left; i += kernels_.max_rows) {
        work.left = groups + i * work.depth;
        work.num_left = std::min(kernels_.max_rows, num_left - i);
        work.out = placed_.rows().sums[step.output] +
                   (first_left + i) * num_columns + panel.first_column;
        kernels_.outer(work);
      }
    }
  }
}

template <typename T>
void RowSums<T>::GroupLeft(const std::vector<Piece>& pieces, int64_t first,
                           int64_t count, int64_t begin, int64_t end,
                           T* groups) const {
  ForPieces(pieces, first, count,
            [&](const Piece& piece, int64_t from, int64_t width, int64_t to) {
              kernels_.group({placed_.At(piece.place).From(from), begin, end,
                              width, end - begin, to, groups});
            });
}

template <typename T>
void RowSums<T>::CopyRight(const std::vector<Piece>& pieces, const Panel& panel,
                           int64_t begin, int64_t end, T* rows) const {
  const int64_t stride = panel.num_vectors * kernels_.lanes;
  Instruction copy;
  copy.in[0] = 1;
  ForPieces(pieces, panel.first_column, panel.num_columns,
            [&](const Piece& piece, int64_t from, int64_t width, int64_t to) {
              const RowSet<T> sets[] = {{rows + to - begin * stride, stride},
                                        placed_.At(piece.place).From(from)};
              kernels_.tail({&copy, 1, sets, begin, end, width});
            });
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace recursive_tf
