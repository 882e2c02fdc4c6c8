#include "recursive_tf/cc/blocks/look_up_rows.h"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/share_rows.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

template <typename T>
bool LookUpRows(const PlacedRows<T>& placed, const LookUpStep& step,
                int64_t width, int64_t num_rows, Team* team) {
  const TableRows<T>& table = placed.rows().tables[step.table];
  const RowSet<T> numbers = placed.At(step.number);
  const RowSet<T> out = placed.At(step.out);
  std::atomic<bool> are_inside{true};
  ShareRows(team, num_rows, width * num_rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T number = *numbers.row(row);
      // NaN is not, either.
      if (!(number >= 0 && number < static_cast<T>(table.num_rows))) {
        are_inside.store(false, std::memory_order_relaxed);
        return;
      }
      const T* const found =
          table.numbers + static_cast<int64_t>(number) * width;
      std::copy(found, found + width, out.row(row));
    }
  });
  return are_inside.load(std::memory_order_relaxed);
}

template bool LookUpRows(const PlacedRows<float>& placed,
                         const LookUpStep& step, int64_t width,
                         int64_t num_rows, Team* team);
template bool LookUpRows(const PlacedRows<double>& placed,
                         const LookUpStep& step, int64_t width,
                         int64_t num_rows, Team* team);

}  // namespace recursive_tf
