#include "recursive_tf/cc/layout/run_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/launch_reads.h"
#include "recursive_tf/cc/layout/memory_plan.h"
#include "recursive_tf/cc/layout/operand_batch.h"
#include "recursive_tf/cc/layout/output_groups.h"

namespace recursive_tf {
namespace {

bool HasVariables(const LaunchRead& read) {
  return std::all_of(
      read.rows.begin(), read.rows.end(),
      [](const ReadRow& row) { return row.variable != ReadRow::kNoVariable; });
}

// Returns whether there is a row for each row of the launch, in order.
bool IsRowByRow(const LaunchRead& read, int32_t num_rows) {
  if (static_cast<int32_t>(read.rows.size()) != num_rows) return false;
  for (int32_t i = 0; i < num_rows; ++i) {
    if (read.rows[i].reader != i) return false;
  }
  return true;
}

Operand VariablesOf(const LaunchRead& read) {
  Operand variables;
  for (const ReadRow& row : read.rows) variables.push_back(row.variable);
  return variables;
}

// Plans a run's layout.
class RunPlanner {
 public:
  explicit RunPlanner(const std::vector<RecordedLaunch>& launches)
      : launches_(launches) {
    for (size_t i = 0; i < launches.size(); ++i) {
      first_variables_.push_back(static_cast<int32_t>(launch_of_.size()));
      launch_of_.resize(launch_of_.size() + launches[i].num_rows,
                        static_cast<int32_t>(i));
    }
  }

  RunLayout Plan() {
    RunLayout layout;
    if (launch_of_.empty()) return layout;
    FindPlaces();
    for (const RecordedLaunch& launch : launches_) {
      for (const LaunchRead& read : launch.reads) JoinOutputs(read);
    }
    for (size_t i = 0; i < launches_.size(); ++i) {
      const std::vector<int32_t> ranks = RanksOf(i);
      for (const LaunchRead& read : launches_[i].reads) {
        ReadBytes& bytes =
            launches_[i].is_compiled ? layout.of_programs : layout.of_functions;
        const int64_t size =
            read.bytes_per_row * static_cast<int64_t>(read.rows.size());
        bytes.all += size;
        bytes.in_order += IsInOrder(read) ? size : 0;
        bytes.in_order_planned += IsInOrderPlanned(read, ranks) ? size : 0;
      }
    }
    return layout;
  }

 private:
  void FindPlaces() {
    std::vector<OperandBatch> batches;
    std::vector<OperandBatch> others;
    for (size_t i = 0; i < launches_.size(); ++i) {
      OperandBatch& batch = batches.emplace_back();
      batch.push_back(OwnVariables(i));
      for (const LaunchRead& read : launches_[i].reads) {
        if (!HasVariables(read)) continue;
        Operand operand = VariablesOf(read);
        if (!IsRowByRow(read, launches_[i].num_rows)) {
          // A batch that writes nothing.
          others.push_back({{}, std::move(operand)});
        } else if (std::find(batch.begin(), batch.end(), operand) ==
                   batch.end()) {
          batch.push_back(std::move(operand));
        }
      }
    }
    batches.insert(batches.end(), others.begin(), others.end());
    const auto num_variables = static_cast<int32_t>(launch_of_.size());
    const MemoryPlan plan = PlanMemory(num_variables, batches);
    places_.resize(num_variables);
    for (int32_t i = 0; i < num_variables; ++i) places_[plan.order[i]] = i;
  }

  Operand OwnVariables(size_t launch) const {
    Operand variables(launches_[launch].num_rows);
    for (size_t i = 0; i < variables.size(); ++i) {
      variables[i] = first_variables_[launch] + static_cast<int32_t>(i);
    }
    return variables;
  }

  // Returns of each row of a launch, which in memory it is.
  std::vector<int32_t> RanksOf(size_t launch) const {
    std::vector<int32_t> rows = OwnVariables(launch);
    std::sort(rows.begin(), rows.end(),
              [this](int32_t a, int32_t b) { return places_[a] < places_[b]; });
    std::vector<int32_t> ranks(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      ranks[rows[i] - first_variables_[launch]] = static_cast<int32_t>(i);
    }
    return ranks;
  }

  OutputGroups::Output OutputOf(const ReadRow& row) const {
    return {launches_[launch_of_[row.variable]].block, row.output};
  }

  void JoinOutputs(const LaunchRead& read) {
    if (!HasVariables(read)) return;
    for (const ReadRow& row : read.rows) {
      groups_.Join(OutputOf(read.rows.front()), OutputOf(row));
    }
  }

  bool IsOfOneValue(const LaunchRead& read) const {
    const ReadRow& first = read.rows.front();
    return std::all_of(
        read.rows.begin(), read.rows.end(), [&](const ReadRow& row) {
          return row.output == first.output &&
                 launch_of_[row.variable] == launch_of_[first.variable];
        });
  }

  bool IsInOrder(const LaunchRead& read) const {
    if (read.is_joined || !HasVariables(read) || !IsOfOneValue(read)) {
      return false;
    }
    for (size_t i = 1; i < read.rows.size(); ++i) {
      if (read.rows[i].variable != read.rows[i - 1].variable + 1) return false;
    }
    return true;
  }

  bool IsInOrderPlanned(const LaunchRead& read,
                        const std::vector<int32_t>& ranks) {
    if (!HasVariables(read)) return false;
    if (!IsOfOneValue(read) &&
        !groups_.CanStandTogether(OutputOf(read.rows.front()))) {
      return false;
    }
    std::vector<ReadRow> rows = read.rows;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const ReadRow& a, const ReadRow& b) {
                       return ranks[a.reader] < ranks[b.reader];
                     });
    for (size_t i = 1; i < rows.size(); ++i) {
      if (places_[rows[i].variable] != places_[rows[i - 1].variable] + 1) {
        return false;
      }
    }
    return true;
  }

  const std::vector<RecordedLaunch>& launches_;
  // By launch.
  std::vector<int32_t> first_variables_;
  // By variable.
  std::vector<int32_t> launch_of_;
  std::vector<int32_t> places_;
  OutputGroups groups_;
};

}  // namespace

RunLayout PlanRun(const std::vector<RecordedLaunch>& launches) {
  return RunPlanner(launches).Plan();
}

}  // namespace recursive_tf
