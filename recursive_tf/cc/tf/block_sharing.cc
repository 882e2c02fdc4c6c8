#include "recursive_tf/cc/tf/block_sharing.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/tf/block_reader.h"
#include "recursive_tf/cc/tf/row_batch.h"
#include "recursive_tf/cc/tf/row_numbers.h"
#include "tensorflow/core/framework/tensor.h"

namespace recursive_tf {

namespace tf = tensorflow;

namespace {

// Returns the numbers that all that a block gives follows from.
std::vector<int32_t> NumbersThatCount(const ReadBlock& block) {
  std::vector<int32_t> numbers;
  for (const RowLookup& lookup : block.lookups) {
    numbers.push_back(lookup.number);
  }
  for (const BlockOutput& output : block.outputs) {
    if (output.kind == BlockOutput::Kind::kNumber) {
      numbers.push_back(output.index);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

EqualRows GroupRows(const std::vector<std::vector<int64_t>>& numbers,
                    const std::vector<int32_t>& columns, int32_t num_rows) {
  return {
      num_rows,
      [&](int32_t row) {
        uint64_t hash = 0;
        for (const int32_t column : columns) {
          hash = HashCombine(hash, static_cast<uint64_t>(numbers[column][row]));
        }
        return hash;
      },
      [&](int32_t a, int32_t b) {
        return std::all_of(columns.begin(), columns.end(), [&](int32_t column) {
          return numbers[column][a] == numbers[column][b];
        });
      }};
}

}  // namespace

std::optional<EqualRows> EqualRowsOf(
    const ReadBlock& block, const std::vector<RowBatch>& rows,
    const std::vector<int32_t>& kept,
    std::vector<const tf::Tensor*> invariants) {
  // Items of lists are not rows that are shared.
  if (!block.owners.empty()) return std::nullopt;
  for (const tf::Tensor& literal : block.literals) {
    invariants.push_back(&literal);
  }
  const int64_t num_rows = rows.front().shape().dim_size(0);
  std::vector<int64_t> num_rows_by_axis(block.graph.num_axes(), num_rows);
  std::vector<std::vector<int64_t>> numbers;
  if (!FindNumbers(block.numbers, rows, invariants, &num_rows_by_axis,
                   &numbers)) {
    return std::nullopt;
  }
  // What is computed follows from these; what is kept or given as it is may be
  // read for something else.
  std::vector<int32_t> columns = NumbersThatCount(block);
  const auto add_column = [&](int32_t argument) {
    columns.push_back(static_cast<int32_t>(numbers.size()));
    numbers.push_back(ReadNumbers(rows[argument].AsTensor(), num_rows));
  };
  for (const int32_t argument : kept) add_column(argument);
  for (const BlockOutput& output : block.outputs) {
    if (output.kind == BlockOutput::Kind::kArgument) add_column(output.index);
  }
  return GroupRows(numbers, columns, static_cast<int32_t>(num_rows));
}

}  // namespace recursive_tf
