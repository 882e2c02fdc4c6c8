#include "recursive_tf/cc/blocks/narrow_tail.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/opcode.h"

namespace recursive_tf {
namespace {

// Rows at a time: some vectors of each column, all of which fit the first
// cache.
constexpr int64_t kRows = 64;
// Instructions for each place that is transposed from which on that pays.
constexpr int64_t kLeastInstructions = 2;

bool IsRegister(const Place& place) {
  return place.kind == Place::Kind::kRegister;
}

// Returns how many operands an instruction reads.
int NumOperands(const Instruction& instruction) {
  const bool is_of_one =
      instruction.is_reduction || instruction.spreads || instruction.narrows;
  return is_of_one ? 1 : Arity(instruction.opcode);
}

// Sets columns to those of rows [begin, begin + num_rows).
template <typename T>
void Transpose(const RowSet<T>& rows, int64_t begin, int64_t num_rows,
               int64_t width, const RowSet<T>& columns) {
  if (rows.rows == nullptr && rows.stride == 0) {
    for (int64_t j = 0; j < width; ++j) {
      std::fill_n(columns.row(j), num_rows, rows.row(0)[j]);
    }
    return;
  }
  T* const to = columns.row(0);
  for (int64_t i = 0; i < num_rows; ++i) {
    const T* const row = rows.row(begin + i);
    for (int64_t j = 0; j < width; ++j) to[j * columns.stride + i] = row[j];
  }
}

// The reverse.
template <typename T>
void TransposeBack(const RowSet<T>& columns, int64_t begin, int64_t num_rows,
                   int64_t width, const RowSet<T>& rows) {
  const T* const from = columns.row(0);
  for (int64_t i = 0; i < num_rows; ++i) {
    T* const row = rows.row(begin + i);
    for (int64_t j = 0; j < width; ++j) row[j] = from[j * columns.stride + i];
  }
}

}  // namespace

template <typename T>
bool NarrowTail<T>::Pays(const Phase& phase, int64_t num_rows, int64_t lanes) {
  if (phase.width >= lanes ||
      phase.width * DivideUp(num_rows, lanes) >= num_rows) {
    return false;
  }
  const auto num_transposed = std::count_if(
      phase.places.begin(), phase.places.end(), [](const Place& place) {
        return !IsRegister(place) && place.kind != Place::Kind::kShared &&
               place.kind != Place::Kind::kConstant;
      });
  return static_cast<int64_t>(phase.code.size()) >=
         kLeastInstructions * num_transposed;
}

template <typename T>
void NarrowTail<T>::FindUses(const Phase& phase) {
  is_taken_.assign(phase.places.size(), 0);
  is_given_.assign(phase.places.size(), 0);
  for (const Instruction& instruction : phase.code) {
    for (int i = 0; i < NumOperands(instruction); ++i) {
      const int32_t in = instruction.in[i];
      if (!IsRegister(phase.places[in]) && is_given_[in] == 0) {
        is_taken_[in] = 1;
      }
    }
    if (!IsRegister(phase.places[instruction.out])) {
      is_given_[instruction.out] = 1;
    }
  }
}

template <typename T>
void NarrowTail<T>::Run(const Kernels<T>& kernels, const Phase& phase,
                        const std::vector<RowSet<T>>& sets, int64_t begin,
                        int64_t end) {
  FindUses(phase);
  const int64_t size = phase.width * kRows;
  const auto num_places = static_cast<int64_t>(phase.places.size());
  T* const memory = memory_.Get((phase.num_registers + num_places) * size);
  columns_.clear();
  for (int64_t i = 0; i < num_places; ++i) {
    const Place& place = phase.places[i];
    const int64_t slot =
        IsRegister(place) ? place.index : phase.num_registers + i;
    columns_.push_back({memory + slot * size, kRows});
  }
  const auto width_of = [&phase](int64_t i) {
    return phase.places[i].is_one_column ? 1 : phase.width;
  };
  TailWork<T> work;
  work.code = phase.code.data();
  work.num_instructions = static_cast<int64_t>(phase.code.size());
  work.sets = columns_.data();
  work.begin = 0;
  work.end = phase.width;
  work.are_columns = true;
  for (; begin < end; begin += kRows) {
    work.width = std::min(kRows, end - begin);
    for (int64_t i = 0; i < num_places; ++i) {
      if (is_taken_[i] == 0) continue;
      Transpose(sets[i], begin, work.width, width_of(i), columns_[i]);
    }
    kernels.tail(work);
    for (int64_t i = 0; i < num_places; ++i) {
      if (is_given_[i] == 0) continue;
      TransposeBack(columns_[i], begin, work.width, width_of(i), sets[i]);
    }
  }
}

template class NarrowTail<float>;
template class NarrowTail<double>;

}  // namespace recursive_tf
