#ifndef RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_
#define RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/base/hash.h"
#include "recursive_tf/cc/base/pooled_vector.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/flow.h"
#include "recursive_tf/cc/batching/host.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/launch_recorder.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/make_steps.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/scalars.h"
#include "recursive_tf/cc/batching/steps.h"
#include "recursive_tf/cc/batching/tape.h"

namespace recursive_tf {

// A value of the fakes: an integer a row.
using Column = std::vector<int64_t>;

// A program whose blocks compute with columns of integers, row by row.
struct IntegerProgram {
  using Block = std::function<std::vector<int64_t>(const Column& row)>;
  using LaunchBlock =
      std::function<std::vector<Column>(const std::vector<Column>& inputs)>;

  Plan plan;
  // Takes the inputs of one activation, returns its outputs.
  std::vector<Block> blocks;
  Column prologue;
  // Blocks that take or give items of lists: for all activations of a launch.
  std::map<int32_t, LaunchBlock> launch_blocks;
  // Of blocks with one input: so many rows of their outputs are known.
  std::map<int32_t, int32_t> looked_up;
};

// Runs such a program in lock step, and watches the run: a value that is read
// after it was said to be dead is an error, and so is a row that is not there.
class IntegerRun : public Host {
 public:
  explicit IntegerRun(const IntegerProgram* program,
                      const std::string& policy = "critical_path",
                      ActivationLimits limits = {})
      : IntegerRun(
            program,
            [&policy](const BlockOrder& order) {
              return MakePolicy(policy, &order);
            },
            limits) {}

  using PolicyOf =
      std::function<std::unique_ptr<const Policy>(const BlockOrder& order)>;
  IntegerRun(const IntegerProgram* program, const PolicyOf& policy,
             ActivationLimits limits)
      : program_(*program),
        order_(program->plan),
        policy_(policy(order_)),
        limits_(limits),
        flow_(FindFlow(program->plan)) {
    MakeSteps();
  }

  // Returns the results of every row; none if a call was refused, or waits for
  // itself, or if the run was cancelled.
  std::vector<Column> Run(const std::vector<Column>& arguments,
                          int32_t num_rows) {
    for (const int64_t output : program_.prologue) AddValue(Column{output});
    for (const Column& argument : arguments) AddValue(argument);
    AddTables();
    steps_->Start(num_rows);
    Sweep();
    Launch launch;
    while (steps_->Next(&launch)) {
      if (shares_rows_) ShareRows(&launch);
      const bool goes_on = goes_on_ && goes_on_(launch.block);
      if (goes_on) steps_->Complete(launch);
      Compute(launch);
      if (!goes_on) steps_->Complete(launch);
      Sweep();
    }
    if (steps_->refused_call() || steps_->refused_push()) return {};
    if (steps_->is_cancelled()) return {};
    if (steps_->FindCycle()) return {};
    tape_.results = steps_->Results();
    std::vector<Column> results(num_rows);
    for (const Rows& rows : tape_.results) {
      const Column column = Gather(rows);
      for (int32_t i = 0; i < num_rows; ++i) results[i].push_back(column.at(i));
    }
    return results;
  }

  Scalars Selectors(int32_t value) override { return Numbers(value); }
  Scalars Keys(int32_t value) override { return Numbers(value); }
  Scalars Numbers(int32_t value) const override {
    return Scalars(ColumnOf(value).data());
  }

  int32_t ReadCount(ValueRow row) override {
    return static_cast<int32_t>(At(row));
  }

  // Refuses a second row for the same index.
  size_t Push(int32_t table, const ValueRow* indices, const ValueRow* values,
              size_t count) override {
    tape_.pushed.resize(std::max<size_t>(tape_.pushed.size(), table + 1));
    for (size_t i = 0; i < count; ++i) {
      const int64_t index = At(indices[i]);
      const auto [pushed, is_new] = tables_[table].emplace(index, 0);
      if (!is_new) return i;
      // It may have yet to be computed.
      pushes_.emplace_back(&pushed->second, values[i]);
      tape_.pushed[table].indices.push_back(index);
      tape_.pushed[table].values.Add(values[i]);
    }
    return count;
  }

  bool IsCancelled() override { return is_cancelled_ && is_cancelled_(); }

  // From now on the run asks this whether it is cancelled.
  void set_is_cancelled(std::function<bool()> is_cancelled) {
    is_cancelled_ = std::move(is_cancelled);
  }

  // From now on rows of equal inputs are computed once, where there are no
  // lists.
  void set_shares_rows() { shares_rows_ = true; }

  // From now on the run asks this whether it follows the calls of a launch
  // before that is computed.
  void set_goes_on(std::function<bool(int32_t block)> goes_on) {
    goes_on_ = std::move(goes_on);
  }

  // From now on the run is recorded.
  void set_recorder(LaunchRecorder* recorder) {
    recorder_ = recorder;
    MakeSteps();
  }

  // From now on each activation is followed, also where all of them are shared.
  void set_follows_each() {
    flow_.reset();
    MakeSteps();
  }

  // What was pushed, by table and index.
  const std::map<int32_t, std::map<int64_t, int64_t>>& tables() const {
    return tables_;
  }

  int64_t At(ValueRow row) const { return ColumnOf(row.value).at(row.row); }

  // What a gradient replays. Launches keep their inputs, then their outputs.
  const Tape<Column>& tape() const { return tape_; }

  // The blocks in the order in which they were launched, and for how many rows.
  const std::vector<std::pair<int32_t, size_t>>& launches() const {
    return launches_;
  }

  size_t num_alive() const { return values_.size() - num_dead_; }
  size_t max_alive() const { return max_alive_; }

  const Steps& steps() const { return *steps_; }
  // REQUIRES: each activation is followed.
  const LockStep& lock_step() const {
    return dynamic_cast<const LockStep&>(*steps_);
  }
  bool is_flow() const { return flow_.has_value() && recorder_ == nullptr; }

 private:
  const Column& ColumnOf(int32_t number) const {
    const std::optional<Column>& value = values_.at(number);
    if (!value.has_value()) throw std::logic_error("a dead value was read");
    return *value;
  }

  void AddTables() {
    for (const auto& [block, num_rows] : program_.looked_up) {
      if (steps_->NumTables(block) == 0) continue;
      std::vector<Column> tables;
      for (int64_t row = 0; row < num_rows; ++row) {
        const Column outputs = program_.blocks[block]({row});
        tables.resize(outputs.size());
        for (size_t i = 0; i < outputs.size(); ++i) {
          tables[i].push_back(outputs[i]);
        }
      }
      steps_->AddTables(block, static_cast<int32_t>(tables.size()), num_rows);
      for (Column& table : tables) AddValue(std::move(table));
    }
  }

  void MakeSteps() {
    steps_ = recursive_tf::MakeSteps(&program_.plan, flow_, &order_,
                                     policy_.get(), this, limits_, recorder_);
  }

  void ShareRows(Launch* launch) const {
    if (program_.launch_blocks.count(launch->block) > 0) return;
    const std::vector<Column> inputs = GatherAll(launch->inputs);
    launch->shared = EqualRows(
        launch->num_activations(),
        [&](int32_t row) {
          uint64_t hash = 0;
          for (const Column& input : inputs) {
            hash = HashCombine(hash, static_cast<uint64_t>(input.at(row)));
          }
          return hash;
        },
        [&](int32_t a, int32_t b) {
          return std::all_of(
              inputs.begin(), inputs.end(),
              [a, b](const Column& input) { return input[a] == input[b]; });
        });
  }

  void Compute(const Launch& launch) {
    const auto num_rows = static_cast<size_t>(launch.num_rows());
    launches_.emplace_back(launch.block, num_rows);
    std::vector<Column> inputs = GatherAll(launch.inputs);
    if (launch.is_shared()) {
      for (Column& input : inputs) input = Take(input, launch.shared.firsts());
    }
    const auto of_launch = program_.launch_blocks.find(launch.block);
    std::vector<Column> outputs =
        of_launch == program_.launch_blocks.end()
            ? RowByRow(program_.blocks[launch.block], inputs, num_rows)
            : of_launch->second(inputs);
    TapedLaunch<Column> taped{launch.block, launch.first_value,
                              launch.num_rows(), launch.inputs,
                              std::move(inputs)};
    taped.kept.insert(taped.kept.end(), outputs.begin(), outputs.end());
    tape_.launches.push_back(std::move(taped));
    for (Column& output : outputs) AddValue(std::move(output));
    if (static_cast<int32_t>(values_.size()) != steps_->num_values()) {
      throw std::logic_error("the values are numbered in another way");
    }
  }

  // A row that is joined of several is as many inputs.
  std::vector<Column> GatherAll(const std::vector<JoinedRows>& inputs) const {
    std::vector<Column> gathered;
    for (const JoinedRows& input : inputs) {
      for (const Rows& rows : input) gathered.push_back(Gather(rows));
    }
    return gathered;
  }

  static Column Take(const Column& column, const PooledVector<int32_t>& rows) {
    Column taken;
    for (const int32_t row : rows) taken.push_back(column.at(row));
    return taken;
  }

  static std::vector<Column> RowByRow(const IntegerProgram::Block& block,
                                      const std::vector<Column>& inputs,
                                      size_t num_rows) {
    std::vector<Column> outputs;
    for (size_t row = 0; row < num_rows; ++row) {
      Column of_row;
      for (const Column& input : inputs) of_row.push_back(input.at(row));
      const Column computed = block(of_row);
      outputs.resize(computed.size());
      for (size_t i = 0; i < computed.size(); ++i) {
        outputs[i].push_back(computed[i]);
      }
    }
    return outputs;
  }

  void AddValue(Column rows) {
    tape_.num_rows.push_back(static_cast<int32_t>(rows.size()));
    values_.emplace_back(std::move(rows));
  }

  Column Gather(const Rows& rows) const {
    Column gathered;
    for (const RowRun& run : rows.runs()) {
      for (int32_t i = 0; i < run.num_rows; ++i) {
        gathered.push_back(At({run.value, run.first_row + i * run.stride}));
      }
    }
    return gathered;
  }

  void Sweep() {
    max_alive_ = std::max(max_alive_, num_alive());
    for (const auto& [pushed, value] : pushes_) *pushed = At(value);
    pushes_.clear();
    for (const int32_t value : steps_->TakeDeadValues()) {
      if (!values_.at(value).has_value()) {
        throw std::logic_error("a value died twice");
      }
      values_[value].reset();
      ++num_dead_;
    }
  }

  const IntegerProgram& program_;
  const BlockOrder order_;
  const std::unique_ptr<const Policy> policy_;
  const ActivationLimits limits_;
  std::optional<Flow> flow_;
  LaunchRecorder* recorder_ = nullptr;
  std::unique_ptr<Steps> steps_;
  std::vector<std::optional<Column>> values_;
  std::map<int32_t, std::map<int64_t, int64_t>> tables_;
  // Since the last launch: where values go, and which.
  std::vector<std::pair<int64_t*, ValueRow>> pushes_;
  std::vector<std::pair<int32_t, size_t>> launches_;
  Tape<Column> tape_;
  size_t num_dead_ = 0;
  size_t max_alive_ = 0;
  bool shares_rows_ = false;
  std::function<bool()> is_cancelled_;
  std::function<bool(int32_t block)> goes_on_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_
