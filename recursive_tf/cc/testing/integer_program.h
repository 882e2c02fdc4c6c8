#ifndef RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_
#define RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/lock_step.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/batching/selectors.h"

namespace recursive_tf {

// A value of the fakes: an integer a row.
using Column = std::vector<int64_t>;

// A program whose blocks compute with columns of integers, row by row.
struct IntegerProgram {
  using Block = std::function<std::vector<int64_t>(const Column& row)>;

  Plan plan;
  // Takes the inputs of one activation, returns its outputs.
  std::vector<Block> blocks;
  Column prologue;
};

// Runs such a program in lock step, and watches the run: a value that is read
// after it was said to be dead is an error, and so is a row that is not there.
class IntegerRun : public Selectors {
 public:
  explicit IntegerRun(const IntegerProgram* program,
                      const std::string& policy = "agenda",
                      ActivationLimits limits = {})
      : program_(*program),
        order_(program->plan),
        policy_(MakePolicy(policy)),
        steps_(&program->plan, &order_, policy_.get(), this, limits) {}

  // Returns the results of every row; none if a call was refused.
  std::vector<Column> Run(const std::vector<Column>& arguments,
                          int32_t num_rows) {
    for (const int64_t output : program_.prologue) {
      values_.push_back(Column{output});
    }
    for (const Column& argument : arguments) values_.push_back(argument);
    steps_.Start(num_rows);
    Sweep();
    Launch launch;
    while (steps_.Next(&launch)) {
      Compute(launch);
      steps_.Complete(launch);
      Sweep();
    }
    if (steps_.refusal().has_value()) return {};
    std::vector<Column> results;
    for (const std::vector<ValueRow>& row : steps_.results()) {
      results.emplace_back();
      for (const ValueRow& result : row) results.back().push_back(At(result));
    }
    return results;
  }

  int32_t Read(ValueRow row) override { return static_cast<int32_t>(At(row)); }

  int64_t At(ValueRow row) const {
    const std::optional<Column>& value = values_.at(row.value);
    if (!value.has_value()) throw std::logic_error("a dead value was read");
    return value->at(row.row);
  }

  // The blocks in the order in which they were launched, and for how many rows.
  const std::vector<std::pair<int32_t, size_t>>& launches() const {
    return launches_;
  }

  size_t num_alive() const { return values_.size() - num_dead_; }
  size_t max_alive() const { return max_alive_; }

  const LockStep& steps() const { return steps_; }

 private:
  void Compute(const Launch& launch) {
    const size_t num_rows = launch.activations.size();
    launches_.emplace_back(launch.block, num_rows);
    std::vector<Column> inputs;
    inputs.reserve(launch.inputs.size());
    for (const Rows& rows : launch.inputs) inputs.push_back(Gather(rows));
    std::vector<Column> outputs;
    for (size_t row = 0; row < num_rows; ++row) {
      Column of_row;
      for (const Column& input : inputs) of_row.push_back(input.at(row));
      const Column computed = program_.blocks[launch.block](of_row);
      outputs.resize(computed.size());
      for (size_t i = 0; i < computed.size(); ++i) {
        outputs[i].push_back(computed[i]);
      }
    }
    for (Column& output : outputs) values_.push_back(std::move(output));
    if (static_cast<int32_t>(values_.size()) != steps_.num_values()) {
      throw std::logic_error("the values are numbered in another way");
    }
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
    for (const int32_t value : steps_.TakeDeadValues()) {
      if (!values_.at(value).has_value()) {
        throw std::logic_error("a value died twice");
      }
      values_[value].reset();
      ++num_dead_;
    }
  }

  const IntegerProgram& program_;
  const BlockOrder order_;
  const std::unique_ptr<Policy> policy_;
  LockStep steps_;
  std::vector<std::optional<Column>> values_;
  std::vector<std::pair<int32_t, size_t>> launches_;
  size_t num_dead_ = 0;
  size_t max_alive_ = 0;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_INTEGER_PROGRAM_H_
