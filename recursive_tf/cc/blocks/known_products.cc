#include "recursive_tf/cc/blocks/known_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/same_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

constexpr size_t kMostPieces = 64;
// Rows that a thread multiplies at a time.
constexpr int64_t kTaskRows = 48;

}  // namespace

template <typename T>
int64_t KnownProducts<T>::SegmentStride(const MatrixUse& use) const {
  return RoundUp(use.segment_width, kernels_.lanes);
}

template <typename T>
void KnownProducts<T>::Find(const Phase& phase) {
  known_.clear();
  const int64_t num_rows = placed_.rows().num_rows[phase.axis];
  const bool are_packed = invariants_.matrices() == Matrices::kPacked;
  if (num_rows < kLeastRowsToCompare || !are_packed) return;
  for (size_t product = 0; product < phase.products.size(); ++product) {
    const ProductStep& step = phase.products[product];
    int64_t first_row = 0;
    for (size_t i = 0; i < std::min(step.pieces.size(), kMostPieces); ++i) {
      const Piece& piece = step.pieces[i];
      if (MayPay(step, piece, num_rows)) {
        Known known;
        known.product = product;
        known.piece = static_cast<int32_t>(i);
        known.rows = FindSameRows(placed_.At(piece.place), num_rows);
        if (AreFewEnough(num_rows, known.rows.num_groups())) {
          Multiply(phase, first_row, &known);
          known_.push_back(std::move(known));
        }
      }
      first_row += piece.width;
    }
  }
}

template <typename T>
bool KnownProducts<T>::MayPay(const ProductStep& step, const Piece& piece,
                              int64_t num_rows) const {
  if (piece.place.kind != Place::Kind::kInput) return false;
  const int64_t num_shared = placed_.rows().num_shared[piece.place.index];
  const MatrixUse& use = program_.matrices[step.matrix];
  return AreFewEnough(num_rows, num_rows - num_shared) &&
         piece.width * use.num_segments * use.segment_width >=
             kNumbersWorthComparing;
}

template <typename T>
void KnownProducts<T>::Multiply(const Phase& phase, int64_t first_row,
                                Known* known) {
  const ProductStep& step = phase.products[known->product];
  const MatrixUse& use = program_.matrices[step.matrix];
  const Piece& piece = step.pieces[known->piece];
  const RowSet<T> rows = placed_.At(piece.place);
  PooledVector<const T*> firsts;
  firsts.reserve(known->rows.firsts().size());
  for (const int32_t row : known->rows.firsts()) {
    firsts.push_back(rows.row(row));
  }
  const auto num_rows = static_cast<int64_t>(firsts.size());
  known->stride = use.num_segments * SegmentStride(use);
  T* const products = known->products.Get(num_rows * known->stride);
  const std::vector<ColumnPart>& parts = invariants_.parts(phase);
  team_.Run(DivideUp(num_rows, kTaskRows), [&](int64_t task) {
    const int64_t begin = task * kTaskRows;
    PanelWork<T> work;
    work.pieces = firsts.data() + begin;
    work.lengths = &piece.width;
    work.num_pieces = 1;
    work.num_rows = std::min(kTaskRows, num_rows - begin);
    work.panel_stride = 0;
    work.out_stride = known->stride;
    for (int64_t segment = 0; segment < use.num_segments; ++segment) {
      ForEachPanel(parts, [&](const Panel& panel, int64_t part, int64_t i) {
        work.num_vectors = panel.num_vectors;
        work.num_columns = panel.num_vectors * kernels_.lanes;
        work.panel = invariants_.packed(step.matrix).panel(segment, part, i) +
                     first_row * work.num_columns;
        work.out =
            products + begin * known->stride + ColumnOf(use, segment, panel);
        kernels_.panel(work);
      });
    }
  });
  const auto num_spared =
      static_cast<int64_t>(known->rows.group_of().size()) - num_rows;
  num_flops_spared_ +=
      2 * num_spared * piece.width * use.num_segments * use.segment_width;
}

template <typename T>
uint64_t KnownProducts<T>::Take(size_t product, int64_t begin, int64_t num_rows,
                                int64_t num_pieces, const T** pieces) const {
  uint64_t taken = 0;
  for (const Known& known : known_) {
    if (known.product != product) continue;
    taken |= uint64_t{1} << static_cast<uint32_t>(known.piece);
    const int32_t* const groups = known.rows.group_of().data() + begin;
    for (int64_t row = 0; row < num_rows; ++row) {
      pieces[row * num_pieces + known.piece] =
          known.products.data() + groups[row] * known.stride;
    }
  }
  return taken;
}

template class KnownProducts<float>;
template class KnownProducts<double>;

}  // namespace recursive_tf
