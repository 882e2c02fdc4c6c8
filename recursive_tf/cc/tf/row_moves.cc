#include "recursive_tf/cc/tf/row_moves.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

// What sharing is worth: some microseconds of copying.
constexpr int64_t kBytesToShare = int64_t{64} * 1024;
// Threads write to lines of memory of their own, mostly.
constexpr int64_t kElementsOfALine = 16;

}  // namespace

void RowMoves::Finish() {
  const auto num_rows = static_cast<int64_t>(rows_.size());
  const int64_t num_bytes =
      num_rows * num_elements_ * tensorflow::DataTypeSize(dtype_);
  if (num_bytes < kBytesToShare) {
    if (num_rows > 0) MoveColumns(0, num_elements_);
  } else {
    const int64_t num_lines =
        (num_elements_ + kElementsOfALine - 1) / kElementsOfALine;
    const int64_t num_parts = std::min<int64_t>(team_.num_threads(), num_lines);
    team_.Run(num_parts, [&](int64_t part) {
      MoveColumns(
          num_lines * part / num_parts * kElementsOfALine,
          std::min(num_lines * (part + 1) / num_parts * kElementsOfALine,
                   num_elements_));
    });
  }
  rows_.clear();
}

void RowMoves::MoveColumns(int64_t begin, int64_t end) const {
  const int64_t element_size = tensorflow::DataTypeSize(dtype_);
  for (const Row& row : rows_) {
    const char* const from = row.from + begin * element_size;
    char* const to = row.to + begin * element_size;
    if (row.adds) {
      AddNumbers(dtype_, from, end - begin, to);
    } else {
      std::memcpy(to, from, (end - begin) * element_size);
    }
  }
}

}  // namespace recursive_tf
