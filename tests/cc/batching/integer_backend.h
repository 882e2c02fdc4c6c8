#ifndef TESTS_CC_BATCHING_INTEGER_BACKEND_H_
#define TESTS_CC_BATCHING_INTEGER_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/testing/integer_program.h"

namespace recursive_tf {

// What rows hold until they are written: not zero, so that a row that is read
// before is seen.
constexpr int64_t kUnwritten = 1'000'000;

// Differentiates blocks of integers row by row, and counts.
class IntegerBackend {
 public:
  using Kept = Column;
  using Function = std::function<Column(const Column& row)>;

  std::map<int32_t, Function> backward;
  // By block: what is added up over all rows.
  std::map<int32_t, std::function<int64_t(const Column& row)>> deferred;
  std::map<int32_t, int64_t> sums;
  std::map<int32_t, size_t> num_backward_rows;
  size_t num_deferred = 0;
  bool fails = false;

  // Of the tape, if it is to get empty.
  Tape<Column>* own_tape = nullptr;
  const Tape<Column>* tape = nullptr;

  std::vector<Column> TakeKept(size_t launch) {
    if (own_tape == nullptr) return tape->launches[launch].kept;
    std::vector<Column> kept;
    std::swap(kept, own_tape->launches[launch].kept);
    return kept;
  }

  bool RunBackward(const TapedLaunch<Column>& launch,
                   std::vector<Column> inputs, std::vector<Column>* outputs) {
    const int32_t block = launch.block;
    EXPECT_EQ(launch.kept.empty(), own_tape != nullptr);
    num_backward_rows[block] += inputs.front().size();
    for (size_t row = 0; row < inputs.front().size(); ++row) {
      const Column computed = backward.at(block)(RowOf(inputs, row));
      outputs->resize(computed.size());
      for (size_t i = 0; i < computed.size(); ++i) {
        (*outputs)[i].push_back(computed[i]);
      }
    }
    return !fails;
  }

  bool RunDeferred(int32_t block, std::vector<std::vector<Column>> inputs) {
    ++num_deferred;
    std::vector<Column> joined;
    for (const std::vector<Column>& parts : inputs) {
      Column& column = joined.emplace_back();
      for (const Column& part : parts) {
        column.insert(column.end(), part.begin(), part.end());
      }
    }
    for (size_t row = 0; row < joined.front().size(); ++row) {
      sums[block] += deferred.at(block)(RowOf(joined, row));
    }
    return true;
  }

  // The rows of each value.
  const std::vector<int32_t>* num_rows = nullptr;
  int64_t bytes_of_a_row = 8;
  std::vector<int64_t> bytes_held;

  void Hold(int64_t num_bytes) { bytes_held.push_back(num_bytes); }
  Column Zeros(int32_t value) const { return Column(num_rows->at(value), 0); }

  static int32_t NumRows(const Column& rows) {
    return static_cast<int32_t>(rows.size());
  }
  Column Allocate(int32_t value) const {
    return Column(num_rows->at(value), kUnwritten);
  }
  static int64_t RowSize(int32_t /*value*/) { return 1; }
  int64_t NumBytes(const Column& rows) const {
    return static_cast<int64_t>(rows.size()) * bytes_of_a_row;
  }
  static Column* View(const Column& rows) { return const_cast<Column*>(&rows); }
  static const int64_t* At(const Column* rows, int64_t row, int64_t offset) {
    EXPECT_EQ(offset, 0);
    return &rows->at(row);
  }
  static void Copy(const int64_t* from, Column* to, int64_t to_row) {
    to->at(to_row) = *from;
  }
  static void Add(const int64_t* from, Column* to, int64_t to_row) {
    to->at(to_row) += *from;
  }
  static void Finish() {}
  static void Clear(Column* rows, int64_t row) { rows->at(row) = 0; }
  static void Own(Column* /*rows*/) {}
  static bool CanStand(int32_t value) { return value % 3 > 0; }
  static Column Standing(int32_t /*value*/,
                         const std::vector<const int64_t*>& places,
                         const std::vector<Column>& /*owners*/) {
    Column rows;
    for (const int64_t* place : places) {
      rows.push_back(place == nullptr ? 0 : *place);
    }
    return rows;
  }

 private:
  static Column RowOf(const std::vector<Column>& columns, size_t row) {
    Column values;
    for (const Column& column : columns) values.push_back(column.at(row));
    return values;
  }
};

}  // namespace recursive_tf

#endif  // TESTS_CC_BATCHING_INTEGER_BACKEND_H_
