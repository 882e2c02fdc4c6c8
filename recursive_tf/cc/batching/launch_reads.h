#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_READS_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_READS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// A row that a launch reads of an earlier one. What launches compute has a
// number for each of their rows, launch by launch: a variable, whose place is
// the same in all outputs of its launch.
struct ReadRow {
  static constexpr int32_t kNoVariable = -1;

  friend bool operator==(const ReadRow& a, const ReadRow& b) {
    return a.reader == b.reader && a.variable == b.variable &&
           a.output == b.output;
  }

  // Which row of its own the launch reads it for.
  int32_t reader = 0;
  // None if no launch computed it, or as an item of a list.
  int32_t variable = kNoVariable;
  // Of its launch.
  int32_t output = 0;
};

// Rows that a launch reads one after the other, as one input or a part of one.
struct LaunchRead {
  int64_t bytes_per_row = 0;
  // Whether several rows are joined to one, and so copied in any order.
  bool is_joined = false;
  std::vector<ReadRow> rows;
};

// What a launch read of earlier ones.
struct RecordedLaunch {
  int32_t block = 0;
  // Whether it ran as a block program, which copies none of these rows.
  bool is_compiled = false;
  int32_t num_rows = 0;
  std::vector<LaunchRead> reads;
};

// Records which rows launches read.
//
// Thread safety: none.
//
// Cost: linear in the number of rows that are read.
class LaunchReads {
 public:
  // Says that there are values that nothing was launched for.
  void AddValues(int32_t count) { values_.resize(values_.size() + count); }

  // Adds a launch, whose outputs are the next values. `bytes_of` returns how
  // large a row of a value is.
  template <typename BytesOf>
  void Add(const Launch& launch, bool is_compiled, int32_t num_values,
           const BytesOf& bytes_of) {
    RecordedLaunch& added = launches_.emplace_back();
    added.block = launch.block;
    added.is_compiled = is_compiled;
    added.num_rows = launch.num_rows();
    for (size_t i = 0; i < launch.inputs.size(); ++i) {
      AddInput(launch, static_cast<int32_t>(i), bytes_of, &added);
    }
    for (int32_t i = 0; i < num_values; ++i) {
      const bool is_list = launch.IsListOutput(i);
      values_.push_back({is_list ? ReadRow::kNoVariable : num_variables_, i});
    }
    num_variables_ += added.num_rows;
  }

  const std::vector<RecordedLaunch>& launches() const { return launches_; }
  std::vector<RecordedLaunch> TakeLaunches() { return std::move(launches_); }

 private:
  struct Value {
    int32_t first_variable = ReadRow::kNoVariable;
    int32_t output = 0;
  };

  // A block program reads the parts of joined rows where they stand; for a
  // function the parts of each row stand side by side.
  template <typename BytesOf>
  void AddInput(const Launch& launch, int32_t input, const BytesOf& bytes_of,
                RecordedLaunch* added) const {
    std::vector<LaunchRead> reads;
    for (const Rows& rows : launch.inputs[input]) {
      if (rows.num_rows() == 0) continue;
      LaunchRead& read = reads.emplace_back();
      read.bytes_per_row = bytes_of(rows.runs().front().value);
      read.rows = RowsOf(launch, input, rows);
    }
    if (reads.size() > 1 && !added->is_compiled) reads = {Join(reads)};
    for (LaunchRead& read : reads) {
      const bool is_of_launches = std::any_of(
          read.rows.begin(), read.rows.end(), [](const ReadRow& row) {
            return row.variable != ReadRow::kNoVariable;
          });
      if (is_of_launches) added->reads.push_back(std::move(read));
    }
  }

  std::vector<ReadRow> RowsOf(const Launch& launch, int32_t input,
                              const Rows& rows) const {
    std::vector<ReadRow> found;
    for (const RowRun& run : rows.runs()) {
      const Value& value = values_[run.value];
      const bool is_known = value.first_variable != ReadRow::kNoVariable;
      for (int32_t i = 0; i < run.num_rows; ++i) {
        const int32_t row = run.first_row + i * run.stride;
        found.push_back(
            {static_cast<int32_t>(found.size()),
             is_known ? value.first_variable + row : ReadRow::kNoVariable,
             value.output});
      }
    }
    if (launch.is_shared()) return FirstOf(launch, found);
    for (const ListInput& list : launch.list_inputs) {
      if (list.input == input) SetReaders(list.counts, &found);
    }
    return found;
  }

  static std::vector<ReadRow> FirstOf(const Launch& launch,
                                      const std::vector<ReadRow>& rows) {
    std::vector<ReadRow> firsts;
    for (const int32_t first : launch.shared.firsts()) {
      firsts.push_back(rows[first]);
      firsts.back().reader = static_cast<int32_t>(firsts.size()) - 1;
    }
    return firsts;
  }

  static void SetReaders(const std::vector<int32_t>& counts,
                         std::vector<ReadRow>* items) {
    size_t item = 0;
    for (size_t reader = 0; reader < counts.size(); ++reader) {
      for (int32_t i = 0; i < counts[reader]; ++i) {
        (*items)[item++].reader = static_cast<int32_t>(reader);
      }
    }
  }

  // Parts may be of different sizes: then the bytes are those of all.
  static LaunchRead Join(const std::vector<LaunchRead>& parts) {
    LaunchRead joined;
    joined.is_joined = true;
    int64_t bytes = 0;
    for (const LaunchRead& part : parts) bytes += part.bytes_per_row;
    joined.bytes_per_row = bytes / static_cast<int64_t>(parts.size());
    for (size_t row = 0; row < parts[0].rows.size(); ++row) {
      for (const LaunchRead& part : parts) {
        joined.rows.push_back(part.rows[row]);
      }
    }
    return joined;
  }

  std::vector<Value> values_;
  std::vector<RecordedLaunch> launches_;
  int32_t num_variables_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_READS_H_
