#include "recursive_tf/cc/blocks/product_peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "recursive_tf/cc/blocks/aligned.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/packed_matrix.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

using Clock = std::chrono::steady_clock;

// A product with one panel, whose operands and results fit the first cache.
template <typename T>
class PanelProduct {
 public:
  explicit PanelProduct(const Kernels<T>& kernels)
      : kernels_(kernels), num_rows_(kNumTiles * kernels.max_rows) {
    const int64_t num_columns = kernels.max_vectors * kernels.lanes;
    T* const rows = Filled(num_rows_ * kDepth, &rows_);
    for (int64_t i = 0; i < num_rows_; ++i) {
      pieces_.push_back(rows + i * kDepth);
    }
    work_.pieces = pieces_.data();
    work_.lengths = &kDepth;
    work_.num_pieces = 1;
    work_.num_rows = num_rows_;
    work_.panel = Filled(kDepth * num_columns, &panel_);
    work_.num_vectors = kernels.max_vectors;
    work_.panel_stride = 0;
    work_.out = Filled(num_rows_ * num_columns, &out_);
    work_.out_stride = num_columns;
    work_.num_columns = num_columns;
  }
  PanelProduct(const PanelProduct&) = delete;
  PanelProduct& operator=(const PanelProduct&) = delete;

  void Run() const { kernels_.panel(work_); }
  int64_t num_flops() const {
    return 2 * num_rows_ * kDepth * work_.num_columns;
  }

 private:
  static constexpr int64_t kDepth = 128;
  static constexpr int64_t kNumTiles = 4;

  static T* Filled(int64_t size, AlignedBuffer<T>* buffer) {
    T* const numbers = buffer->Get(size);
    std::fill_n(numbers, size, T(0.25));
    return numbers;
  }

  const Kernels<T>& kernels_;
  const int64_t num_rows_;
  AlignedBuffer<T> rows_;
  AlignedBuffer<T> panel_;
  AlignedBuffer<T> out_;
  std::vector<const T*> pieces_;
  PanelWork<T> work_;
};

}  // namespace

std::vector<int64_t> ProductFlops(const BlockProgram& program,
                                  int32_t num_axes) {
  std::vector<int64_t> flops(num_axes, 0);
  for (const Phase& phase : program.phases) {
    for (const ProductStep& product : phase.products) {
      const MatrixUse& use = program.matrices[product.matrix];
      flops[phase.axis] += 2 * use.depth * use.num_segments * use.segment_width;
    }
    if (phase.row_product.has_value()) {
      const RowProductShape& shape = phase.row_product->shape;
      flops[phase.axis] += 2 * shape.num_rows * shape.depth * shape.num_columns;
    }
  }
  for (const SumStep& sum : program.sums) {
    flops[sum.axis] += 2 * WidthOf(sum.left) * WidthOf(sum.right);
  }
  return flops;
}

template <typename T>
double MeasureProductPeak(const Kernels<T>& kernels, Team* team) {
  constexpr int kProducts = 200;
  constexpr std::chrono::milliseconds kTime{30};
  std::deque<PanelProduct<T>> products;
  for (int i = 0; i < team->num_threads(); ++i) products.emplace_back(kernels);
  const double num_flops = static_cast<double>(products.front().num_flops()) *
                           kProducts * team->num_threads();
  double peak = 0;
  const Clock::time_point end = Clock::now() + kTime;
  // The best of some: other programs, and threads that have yet to begin, make
  // them slower.
  for (Clock::time_point begin = Clock::now(); begin < end;) {
    team->Run(team->num_threads(), [&](int64_t thread) {
      for (int i = 0; i < kProducts; ++i) products[thread].Run();
    });
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> seconds = now - begin;
    peak = std::max(peak, num_flops / seconds.count());
    begin = now;
  }
  return peak;
}

template double MeasureProductPeak(const Kernels<float>& kernels, Team* team);
template double MeasureProductPeak(const Kernels<double>& kernels, Team* team);

}  // namespace recursive_tf
