#include "recursive_tf/cc/blocks/reduce_items.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/reduce_rows.h"
#include "recursive_tf/cc/blocks/share_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {
namespace {

// Returns what takes one more number, and what there is before the first.
Opcode OpcodeOf(Reduction reduction) {
  if (reduction == Reduction::kMax) return Opcode::kMax;
  return reduction == Reduction::kMin ? Opcode::kMin : Opcode::kAdd;
}

template <typename T>
T OfNone(Reduction reduction) {
  if (reduction == Reduction::kMax) return std::numeric_limits<T>::lowest();
  return reduction == Reduction::kMin ? std::numeric_limits<T>::max() : T(0);
}

// Sets rows [begin, end), each of items that stand one behind the other.
template <typename T>
void ReduceSome(const Kernels<T>& kernels, const PlacedRows<T>& placed,
                const ItemsStep& step, int64_t width, int64_t begin,
                int64_t end) {
  const RowSet<T> items = placed.At(step.items);
  const RowSet<T> out = placed.At(step.out);
  const int64_t* const owners = placed.rows().owners[step.owners];
  const int64_t num_items = placed.rows().num_rows[step.items_axis];
  const T of_none = OfNone<T>(step.reduction);
  const Opcode opcode = OpcodeOf(step.reduction);
  int64_t item = std::lower_bound(owners, owners + num_items, begin) - owners;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t first = item;
    while (item < num_items && owners[item] == row) ++item;
    std::fill_n(out.row(row), width, of_none);
    ReduceRows(kernels, opcode, items, first, item, width, out.row(row));
  }
}

}  // namespace

template <typename T>
void ReduceItems(const Kernels<T>& kernels, const PlacedRows<T>& placed,
                 const ItemsStep& step, int64_t width, int64_t num_rows,
                 Team* team) {
  const int64_t numbers = width * placed.rows().num_rows[step.items_axis];
  ShareRows(team, num_rows, kNumbersAnInstruction * numbers,
            [&](int64_t begin, int64_t end) {
              ReduceSome(kernels, placed, step, width, begin, end);
            });
}

template void ReduceItems(const Kernels<float>& kernels,
                          const PlacedRows<float>& placed,
                          const ItemsStep& step, int64_t width,
                          int64_t num_rows, Team* team);
template void ReduceItems(const Kernels<double>& kernels,
                          const PlacedRows<double>& placed,
                          const ItemsStep& step, int64_t width,
                          int64_t num_rows, Team* team);

}  // namespace recursive_tf
