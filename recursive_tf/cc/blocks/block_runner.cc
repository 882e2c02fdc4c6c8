#include "recursive_tf/cc/blocks/block_runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/look_up_rows.h"
#include "recursive_tf/cc/blocks/narrow_tail.h"
#include "recursive_tf/cc/blocks/panels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/reduce_items.h"
#include "recursive_tf/cc/blocks/row_sums.h"
#include "recursive_tf/cc/blocks/scratch.h"
#include "recursive_tf/cc/blocks/share_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// Rows of which a product is computed before instructions take it: a multiple
// of the heights of tiles. It stays in the second cache.
constexpr int64_t kStripRows = 48;
// What operands of a tail take at a time; some of them fit the first cache.
constexpr int64_t kTailBytes = 2048;
// Rows of a part: more than these are several, so that threads which are late
// leave some to others, up to as many for each thread.
constexpr int64_t kLeastPartRows = 24;
constexpr int64_t kMostPartRows = 192;
constexpr int64_t kMostPartsOfThread = 4;
// Rows for a thread from which on threads share the rows of a product, and not
// its columns: enough for a tile, which reads all of the matrix. Then no two
// write to one line of memory, and each reads only the rows of its own.
constexpr int64_t kRowsToShare = 12;
// Numbers of a tail without products that are worth a part of their own.
constexpr int64_t kLeastTailNumbers = 2048;

// Returns how many rows a part has, so that each thread has as many parts of
// about one size. Fewer than `least` are not worth a part.
int64_t RowsOfPart(int64_t num_rows, int64_t least, int64_t num_threads) {
  const int64_t worth =
      std::min(num_rows / (least * num_threads), kMostPartsOfThread);
  const int64_t needed = DivideUp(num_rows, kMostPartRows * num_threads);
  return DivideUp(num_rows, std::max(worth, needed) * num_threads);
}

}  // namespace

// Rows and columns of a phase that are worked on at a time.
template <typename T>
struct BlockRunner<T>::Strip {
  int64_t begin;
  int64_t end;
  // By number, of the packed matrices.
  const ColumnPart* parts;
  int64_t first_part;
  int64_t last_part;
  int64_t first_column;
  int64_t num_columns;
  // What products give: rows of segments of so many numbers, product after
  // product.
  int64_t segment_stride;
  T* products;
};

template <typename T>
bool BlockRunner<T>::Run(const BlockRows<T>& rows) {
  placed_.emplace(&program_, &invariants_, &rows);
  known_.emplace(&program_, &kernels_, &invariants_, &*placed_, &team_);
  added_.emplace(&program_, &kernels_, &invariants_, &*placed_, &team_);
  for (const Phase& phase : program_.phases) {
    if (rows.num_rows[phase.axis] > 0 && !RunPhase(phase)) return false;
  }
  RowSums<T> sums(&kernels_, &*placed_, &team_);
  for (const SumStep& step : program_.sums) sums.Run(step);
  num_flops_spared_ = known_->num_flops_spared() + added_->num_flops_spared() +
                      sums.num_flops_spared();
  return true;
}

template <typename T>
bool BlockRunner<T>::RunPhase(const Phase& phase) {
  const int64_t num_rows = placed_->rows().num_rows[phase.axis];
  if (phase.look_up.has_value()) {
    return LookUpRows(*placed_, *phase.look_up, phase.width, num_rows, &team_);
  }
  if (phase.row_product.has_value()) {
    RunRowProduct(*phase.row_product, num_rows);
  } else if (phase.of_items.has_value()) {
    ReduceItems(kernels_, *placed_, *phase.of_items, phase.width, num_rows,
                &team_);
  } else if (!RunAdded(phase)) {
    RunParts(phase, num_rows);
  }
  return true;
}

template <typename T>
void BlockRunner<T>::RunParts(const Phase& phase, int64_t num_rows) {
  known_->Find(phase);
  const int64_t num_threads = team_.num_threads();
  // Few rows share columns, so that each thread reads a part of the matrix.
  const int64_t enough =
      phase.products.empty() ? num_threads : kRowsToShare * num_threads;
  const bool by_columns = !phase.needs_whole_rows && num_rows < enough;
  const std::vector<ColumnPart>& parts = invariants_.parts(phase);
  const auto num_parts = static_cast<int64_t>(parts.size());
  if (!IsWorthSharing(phase)) {
    return RunColumns(phase, parts.data(), 0, num_parts, 0, num_rows);
  }
  if (by_columns) {
    team_.Run(num_parts, [&](int64_t part) {
      RunColumns(phase, parts.data(), part, part + 1, 0, num_rows);
    });
    return;
  }
  const int64_t least =
      phase.products.empty() ? kLeastTailNumbers / phase.width : kLeastPartRows;
  const int64_t part_rows =
      RowsOfPart(num_rows, std::max<int64_t>(least, 1), num_threads);
  team_.Run(DivideUp(num_rows, part_rows), [&](int64_t index) {
    RunColumns(phase, parts.data(), 0, num_parts, index * part_rows,
               std::min((index + 1) * part_rows, num_rows));
  });
}

template <typename T>
bool BlockRunner<T>::RunAdded(const Phase& phase) {
  are_run_.assign(phase.products.size(), false);
  for (size_t i = 0; i < phase.products.size(); ++i) {
    are_run_[i] = added_->Run(phase, i);
  }
  return phase.code.empty() && std::all_of(are_run_.begin(), are_run_.end(),
                                           [](bool is) { return is; });
}

template <typename T>
void BlockRunner<T>::RunRowProduct(const RowProductStep& step,
                                   int64_t num_rows) {
  const RowProductShape& shape = step.shape;
  const int64_t numbers = shape.num_rows * shape.depth * shape.num_columns;
  const auto run = [&](int64_t begin, int64_t end) {
    kernels_.row_product({shape, placed_->At(step.left),
                          placed_->At(step.right), placed_->At(step.out), begin,
                          end});
  };
  ShareRows(&team_, num_rows, numbers * num_rows, run);
}

template <typename T>
bool BlockRunner<T>::IsWorthSharing(const Phase& phase) const {
  int64_t numbers = kNumbersAnInstruction * phase.width *
                    static_cast<int64_t>(phase.code.size());
  for (const ProductStep& product : phase.products) {
    const MatrixUse& use = program_.matrices[product.matrix];
    numbers += use.depth * use.num_segments * use.segment_width;
  }
  return numbers * placed_->rows().num_rows[phase.axis] >= kNumbersToShare;
}

template <typename T>
void BlockRunner<T>::RunColumns(const Phase& phase, const ColumnPart* parts,
                                int64_t first_part, int64_t last_part,
                                int64_t begin, int64_t end) {
  Strip strip;
  strip.parts = parts;
  strip.first_part = first_part;
  strip.last_part = last_part;
  strip.first_column = parts[first_part].first_column;
  const ColumnPart& last = parts[last_part - 1];
  strip.num_columns = last.first_column + last.num_columns - strip.first_column;
  strip.segment_stride = RoundUp(strip.num_columns, kernels_.lanes);
  strip.products = Scratch<T>::Mine().products.Get(
      SegmentsBefore(phase, phase.products.size()) * kStripRows *
      strip.segment_stride);
  // Without products a strip has no size.
  const int64_t rows = phase.products.empty() ? end - begin : kStripRows;
  for (; begin < end; begin += rows) {
    strip.begin = begin;
    strip.end = std::min(begin + rows, end);
    for (size_t i = 0; i < phase.products.size(); ++i) {
      if (!are_run_[i]) RunProduct(phase, i, strip);
    }
    if (!phase.code.empty()) RunCode(phase, strip);
  }
}

template <typename T>
void BlockRunner<T>::RunProduct(const Phase& phase, size_t product,
                                const Strip& strip) {
  const ProductStep& step = phase.products[product];
  const MatrixUse& use = program_.matrices[step.matrix];
  PanelWork<T> work;
  const T** const pieces = FindPieces(step.pieces, strip.begin, strip.end);
  work.pieces = pieces;
  work.lengths = Scratch<T>::Mine().lengths.data();
  work.num_pieces = static_cast<int64_t>(step.pieces.size());
  work.num_rows = strip.end - strip.begin;
  work.known = known_->Take(product, strip.begin, work.num_rows,
                            work.num_pieces, pieces);
  T* out = nullptr;
  if (step.out.has_value()) {
    const RowSet<T> rows = placed_->At(*step.out);
    out = rows.row(strip.begin) + strip.first_column;
    work.out_stride = rows.stride;
  } else {
    out = strip.products +
          SegmentsBefore(phase, product) * kStripRows * strip.segment_stride;
    work.out_stride = use.num_segments * strip.segment_stride;
  }
  for (int64_t segment = 0; segment < use.num_segments; ++segment) {
    for (int64_t part = strip.first_part; part < strip.last_part; ++part) {
      const std::vector<Panel>& panels = strip.parts[part].panels;
      for (size_t i = 0; i < panels.size(); ++i) {
        const Panel& panel = panels[i];
        work.out = out + segment * strip.segment_stride + panel.first_column -
                   strip.first_column;
        work.num_vectors = panel.num_vectors;
        work.num_columns = panel.num_columns;
        if (invariants_.matrices() == Matrices::kStanding) {
          MultiplyStanding(step.matrix,
                           segment * use.segment_width + panel.first_column,
                           &work);
          continue;
        }
        work.panel = invariants_.packed(step.matrix)
                         .panel(segment, part, static_cast<int64_t>(i));
        work.panel_stride = 0;
        if (!step.out.has_value()) {
          work.num_columns = panel.num_vectors * kernels_.lanes;
        }
        work.known_column = known_->ColumnOf(use, segment, panel);
        kernels_.panel(work);
      }
    }
  }
}

template <typename T>
void BlockRunner<T>::MultiplyStanding(int32_t matrix, int64_t first_column,
                                      PanelWork<T>* work) const {
  const MatrixUse& use = program_.matrices[matrix];
  const T* const numbers = invariants_.standing(matrix);
  if (!use.is_transposed) {
    work->panel = numbers + first_column;
    work->panel_stride = use.num_segments * use.segment_width;
    return kernels_.panel(*work);
  }
  DotWork<T> dots;
  static_cast<PiecedRows<T>&>(dots) = *work;
  dots.columns = numbers + first_column * use.depth;
  dots.stride = use.depth;
  dots.out = work->out;
  dots.out_stride = work->out_stride;
  dots.num_columns = work->num_columns;
  kernels_.dots(dots);
}

template <typename T>
int64_t BlockRunner<T>::SegmentsBefore(const Phase& phase,
                                       size_t product) const {
  int64_t num_segments = 0;
  for (size_t i = 0; i < product; ++i) {
    num_segments += program_.matrices[phase.products[i].matrix].num_segments;
  }
  return num_segments;
}

template <typename T>
void BlockRunner<T>::RunCode(const Phase& phase, const Strip& strip) {
  Scratch<T>& scratch = Scratch<T>::Mine();
  FindSets(phase, strip, &scratch.sets);
  if (NarrowTail<T>::Pays(phase, strip.end - strip.begin, kernels_.lanes)) {
    return scratch.narrow_tail.Run(kernels_, phase, scratch.sets, strip.begin,
                                   strip.end);
  }
  RunTail(phase, strip, &scratch);
}

template <typename T>
void BlockRunner<T>::FindSets(const Phase& phase, const Strip& strip,
                              std::vector<RowSet<T>>* found) const {
  const int64_t width = strip.segment_stride;
  std::vector<RowSet<T>>& sets = *found;
  sets.clear();
  for (const Place& place : phase.places) {
    switch (place.kind) {
      case Place::Kind::kRegister:
        sets.push_back({});
        break;
      case Place::Kind::kSegment: {
        const auto product = static_cast<size_t>(place.index);
        const int64_t stride =
            program_.matrices[phase.products[product].matrix].num_segments *
            width;
        T* const first = strip.products +
                         SegmentsBefore(phase, product) * kStripRows * width +
                         place.column * width;
        sets.push_back({first - strip.begin * stride, stride});
        break;
      }
      default:
        sets.push_back(placed_->At(place));
        if (!place.is_one_column) {
          sets.back() = sets.back().From(strip.first_column);
        }
    }
  }
}

template <typename T>
void BlockRunner<T>::RunTail(const Phase& phase, const Strip& strip,
                             Scratch<T>* scratch) {
  const int64_t width = strip.segment_stride;
  const int64_t tail_rows = std::clamp<int64_t>(
      kTailBytes / (width * static_cast<int64_t>(sizeof(T))), 1, kStripRows);
  T* const registers =
      scratch->registers.Get(phase.num_registers * tail_rows * width);
  std::vector<RowSet<T>>& sets = scratch->sets;
  TailWork<T> work;
  work.code = phase.code.data();
  work.num_instructions = static_cast<int64_t>(phase.code.size());
  work.sets = sets.data();
  work.width = strip.num_columns;
  for (int64_t row = strip.begin; row < strip.end; row += tail_rows) {
    for (size_t i = 0; i < sets.size(); ++i) {
      const Place& place = phase.places[i];
      if (place.kind != Place::Kind::kRegister) continue;
      sets[i] = {registers + (place.index * tail_rows - row) * width, width};
    }
    work.begin = row;
    work.end = std::min(row + tail_rows, strip.end);
    kernels_.tail(work);
  }
}

template <typename T>
const T** BlockRunner<T>::FindPieces(const std::vector<Piece>& pieces,
                                     int64_t begin, int64_t end) const {
  Scratch<T>& scratch = Scratch<T>::Mine();
  const size_t num_pieces = pieces.size();
  scratch.lengths.clear();
  scratch.pieces.resize((end - begin) * num_pieces);
  for (size_t i = 0; i < num_pieces; ++i) {
    scratch.lengths.push_back(pieces[i].width);
    const RowSet<T> rows = placed_->At(pieces[i].place);
    for (int64_t row = begin; row < end; ++row) {
      scratch.pieces[(row - begin) * num_pieces + i] = rows.row(row);
    }
  }
  return scratch.pieces.data();
}

template class BlockRunner<float>;
template class BlockRunner<double>;

}  // namespace recursive_tf
