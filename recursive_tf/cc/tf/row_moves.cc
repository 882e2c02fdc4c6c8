#include "recursive_tf/cc/tf/row_moves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/tf/row_ops.h"
#include "tensorflow/core/framework/types.h"

namespace recursive_tf {
namespace {

// Rows stand anywhere: what comes so many rows later is asked for now.
constexpr size_t kRowsAhead = 6;
constexpr int64_t kBytesOfALine = 64;
constexpr int64_t kMostBytesAhead = 1024;

void Prefetch(const char* from, const char* to, int64_t num_bytes) {
  for (int64_t byte = 0; byte < num_bytes; byte += kBytesOfALine) {
    __builtin_prefetch(from + byte, /*rw=*/0);
    __builtin_prefetch(to + byte, /*rw=*/1);
  }
}

// Returns one of some threads: always the same for one address.
int64_t ThreadFor(const char* to, int64_t num_threads) {
  const uint64_t hash = HashCombine(0, reinterpret_cast<uintptr_t>(to));
  return static_cast<int64_t>(hash % static_cast<uint64_t>(num_threads));
}

}  // namespace

void RowMoves::Finish() {
  const int64_t row_bytes = num_elements_ * tensorflow::DataTypeSize(dtype_);
  const auto num_bytes = static_cast<int64_t>(rows_.size()) * row_bytes;
  const int64_t num_threads =
      num_bytes < kBytesToShare ? 1 : team_.num_threads();
  if (num_bytes > 0) {
    team_.Run(num_threads, [&](int64_t thread) {
      if (has_adds_) {
        MoveRowsOf(thread, num_threads, row_bytes);
      } else {
        CopyPart(thread, num_threads, row_bytes);
      }
    });
  }
  rows_.clear();
  has_adds_ = false;
}

void RowMoves::CopyPart(int64_t thread, int64_t num_threads,
                        int64_t row_bytes) const {
  const int64_t bytes_ahead = std::min(row_bytes, kMostBytesAhead);
  const size_t first = rows_.size() * thread / num_threads;
  const size_t end = rows_.size() * (thread + 1) / num_threads;
  for (size_t i = first; i < end; ++i) {
    if (i + kRowsAhead < end) {
      Prefetch(rows_[i + kRowsAhead].from, rows_[i + kRowsAhead].to,
               bytes_ahead);
    }
    std::memcpy(rows_[i].to, rows_[i].from, row_bytes);
  }
}

void RowMoves::MoveRowsOf(int64_t thread, int64_t num_threads,
                          int64_t row_bytes) const {
  const int64_t bytes_ahead = std::min(row_bytes, kMostBytesAhead);
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i + kRowsAhead < rows_.size()) {
      const Row& later = rows_[i + kRowsAhead];
      if (ThreadFor(later.to, num_threads) == thread) {
        Prefetch(later.from, later.to, bytes_ahead);
      }
    }
    const Row& row = rows_[i];
    if (ThreadFor(row.to, num_threads) != thread) continue;
    if (row.adds) {
      AddNumbers(dtype_, row.from, num_elements_, row.to);
    } else {
      std::memcpy(row.to, row.from, row_bytes);
    }
  }
}

}  // namespace recursive_tf
