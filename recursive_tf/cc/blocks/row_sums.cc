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

// How many rows are in the cache at a time: as many as fit the second one with
// their columns on both sides, as each time reads and writes all results.
constexpr int64_t kMostDepth = 256;
// From how many on copying them costs more than results that leave the cache.
constexpr int64_t kManyRows = 1024;

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
  const std::vector<ColumnPart> parts = SplitColumns(
      num_columns, num_threads, kernels_.lanes, kernels_.max_vectors);
  const auto num_parts = static_cast<int64_t>(parts.size());
  if (step.left.empty()) {
    team_.Run(num_parts,
              [&](int64_t index) { SumRowsPart(step, parts[index]); });
    return;
  }
  // Tasks copy their rows and share nothing: many rows are copied rarely.
  const int64_t num_splits =
      placed_.rows().num_rows[step.axis] < kManyRows ? num_threads : 1;
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
  int64_t begin = 0;
  for (const Piece& piece : step.right) {
    const int64_t from = std::max(begin, part.first_column);
    const int64_t to =
        std::min(begin + piece.width, part.first_column + part.num_columns);
    if (from < to) {
      const RowSet<T> rows = placed_.At(piece.place).From(from - begin);
      const RowSet<T> sum = {sums + from, 0};
      const RowSet<T> sets[] = {sum, rows};
      Instruction add;
      add.opcode = Opcode::kAdd;
      add.in[1] = 1;
      kernels_.tail({&add, 1, sets, 0, num_rows, to - from});
    }
    begin += piece.width;
  }
}

// Block of rows after block, so that these stay in cache: copied, because rows
// may stand anywhere, and each is read by many tiles.
template <typename T>
void RowSums<T>::SumOuterPart(const SumStep& step, int64_t first_left,
                              int64_t num_left, int64_t num_columns,
                              const ColumnPart& part) {
  const int64_t num_rows = placed_.rows().num_rows[step.axis];
  const int64_t depth = DivideUp(num_rows, DivideUp(num_rows, kMostDepth));
  Scratch<T>& scratch = Scratch<T>::Mine();
  T* const left = scratch.products.Get(depth * num_left);
  T* const right =
      scratch.registers.Get(depth * RoundUp(part.num_columns, kernels_.lanes));
  scratch.pieces.resize(2 * depth);
  const T** const left_rows = scratch.pieces.data();
  const T** const right_rows = left_rows + depth;
  for (int64_t k = 0; k < depth; ++k) left_rows[k] = left + k * num_left;
  OuterWork<T> work;
  work.left = left_rows;
  work.right = right_rows;
  work.first_right = 0;
  work.out_stride = num_columns;
  for (int64_t begin = 0; begin < num_rows; begin += depth) {
    const int64_t end = std::min(begin + depth, num_rows);
    work.depth = end - begin;
    work.adds = step.adds || begin > 0;
    CopyColumns(step.left, first_left, num_left, begin, end, left, num_left);
    T* columns = right;
    for (const Panel& panel : part.panels) {
      const int64_t width = panel.num_vectors * kernels_.lanes;
      CopyColumns(step.right, panel.first_column, panel.num_columns, begin, end,
                  columns, width);
      for (int64_t k = 0; k < work.depth; ++k) {
        right_rows[k] = columns + k * width;
      }
      work.num_vectors = panel.num_vectors;
      work.num_columns = panel.num_columns;
      for (int64_t i = 0; i < num_left; i += kernels_.max_rows) {
        work.first_left = i;
        work.num_left = std::min(kernels_.max_rows, num_left - i);
        work.out = placed_.rows().sums[step.output] +
                   (first_left + i) * num_columns + panel.first_column;
        kernels_.outer(work);
      }
      columns += depth * width;
    }
  }
}

// Copies columns of rows [begin, end) of joined pieces to rows that stand one
// `stride` behind the other.
template <typename T>
void RowSums<T>::CopyColumns(const std::vector<Piece>& pieces, int64_t first,
                             int64_t count, int64_t begin, int64_t end, T* to,
                             int64_t stride) const {
  Instruction copy;
  copy.in[0] = 1;
  int64_t offset = 0;
  for (const Piece& piece : pieces) {
    const int64_t from = std::max(offset, first);
    const int64_t last = std::min(offset + piece.width, first + count);
    if (from < last) {
      const RowSet<T> sets[] = {{to + (from - first) - begin * stride, stride},
                                placed_.At(piece.place).From(from - offset)};
      kernels_.tail({&copy, 1, sets, begin, end, last - from});
    }
    offset += piece.width;
  }
}

template class RowSums<float>;
template class RowSums<double>;

}  // namespace recursive_tf
