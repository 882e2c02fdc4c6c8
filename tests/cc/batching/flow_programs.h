#ifndef TESTS_CC_BATCHING_FLOW_PROGRAMS_H_
#define TESTS_CC_BATCHING_FLOW_PROGRAMS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

// Random programs whose invocations are all of one SubGraph.

namespace recursive_tf {

inline int64_t ArgumentOf(int64_t key) { return (5 * key + 3) % kModulus; }

// What is the first procedure.
enum class First : uint8_t { kFront, kBody, kRoot };

// Makes random programs of one SubGraph: of a key, and a number that follows
// from it. Its procedures are the front, if it is memoized, or else perhaps a
// root procedure that only calls it; the body; then branches.
class FlowPrograms {
 public:
  explicit FlowPrograms(uint32_t seed, First first = First::kFront)
      : random_(seed), first_(first) {}

  IntegerProgram Make() {
    program_.plan.num_prologue_outputs = 1;
    program_.prologue = {17};
    program_.plan.procedures.resize(first_ == First::kBody ? 1 : 2);
    PlannedProcedure body = OfSlots(/*num_arguments=*/2);
    body.is_branch = is_memoized();
    Look(&body);
    AddStages(/*depth=*/0, &body);
    Ask(&body);
    AddStages(/*depth=*/0, &body);
    Finish(&body);
    std::vector<PlannedProcedure>& procedures = program_.plan.procedures;
    if (first_ != First::kBody) procedures[0] = CallerOfBody();
    procedures[first_ == First::kBody ? 0 : 1] = std::move(body);
    program_.plan.num_blocks = static_cast<int32_t>(program_.blocks.size());
    return program_;
  }

 private:
  int32_t Below(size_t count) {
    return static_cast<int32_t>(random_() % count);
  }

  static PlannedProcedure OfSlots(int32_t num_arguments) {
    PlannedProcedure procedure;
    procedure.is_branch = true;
    procedure.num_arguments = num_arguments;
    procedure.num_slots = num_arguments;
    return procedure;
  }

  bool is_memoized() const { return first_ == First::kFront; }

  // Returns the procedure that is called for an invocation.
  int32_t subgraph() const { return first_ == First::kRoot ? 1 : 0; }

  PlannedProcedure CallerOfBody() const {
    PlannedProcedure caller = OfSlots(2);
    caller.is_branch = false;
    Stage ask;
    ask.calls.push_back(CallSite{0, {}, {Branch{1, {S(0), S(1)}}}, 2});
    if (is_memoized()) ask.calls.back().key = S(0);
    caller.num_slots = 3;
    caller.stages = {ask};
    caller.outputs = {S(2)};
    return caller;
  }

  int32_t Add(PlannedProcedure procedure) {
    program_.plan.procedures.push_back(std::move(procedure));
    return static_cast<int32_t>(program_.plan.procedures.size()) - 1;
  }

  // No list.
  Source Any(const PlannedProcedure& procedure) {
    const int32_t slot = Below(procedure.num_slots + 1);
    if (procedure.ListAt(S(slot)) != nullptr) return Any(procedure);
    return slot == procedure.num_slots ? Source::Prologue(0) : S(slot);
  }

  // Looks at the key: whether there are others below it, which, and their
  // numbers. They are asked for at once, each if it is there, or both.
  void Look(PlannedProcedure* body) {
    const auto block = static_cast<int32_t>(program_.blocks.size());
    program_.blocks.emplace_back([](const Column& in) {
      const int64_t left = in[0] - 1;
      const int64_t right = in[0] / 2;
      return Column{in[0] > 0, left, ArgumentOf(left), right,
                    ArgumentOf(right)};
    });
    Stage look = Compute(block, {S(0)}, 2, 5);
    body->num_slots = 7;
    // What is returned to one call is no result of another of the same stage.
    const PlannedProcedure before = *body;
    const int32_t num_asks = Below(3);
    for (int32_t i = 0; i < num_asks; ++i) {
      const int32_t returned = Add(Returned());
      PlannedProcedure calls = OfSlots(2);
      Stage call;
      call.calls = {CallSite{i, {}, {Branch{subgraph(), {S(1), S(0)}}}, 2}};
      calls.stages = {call};
      calls.num_slots = 3;
      calls.outputs = {S(2)};
      look.calls.push_back({0,
                            S(2),
                            {Branch{returned, {Any(before)}},
                             Branch{Add(calls), {S(4 + 2 * i), S(3 + 2 * i)}}},
                            body->num_slots++});
    }
    // A row of a table for each key.
    if (is_memoized()) look.pushes = {PlannedPush{0, S(0), S(1)}};
    body->stages.push_back(look);
  }

  // Takes one of two branches, if there are others below the key or not: one
  // asks for both of them.
  void Ask(PlannedProcedure* body) {
    PlannedProcedure leaf = OfSlots(2);
    AddStages(/*depth=*/1, &leaf);
    Finish(&leaf);
    PlannedProcedure inner = OfSlots(5);
    AddStages(/*depth=*/1, &inner);
    Stage ask;
    for (int32_t i = 0; i < 2; ++i) {
      ask.calls.push_back({5 + i,
                           {},
                           {Branch{subgraph(), {S(2 * i), S(2 * i + 1)}}},
                           inner.num_slots++});
    }
    inner.stages.push_back(ask);
    if (Below(2) == 0) AskForItems(&inner);
    AddStages(/*depth=*/1, &inner);
    Finish(&inner);
    Stage choose;
    const Branch not_below{Add(leaf), {Any(*body), Any(*body)}};
    const Branch below{Add(inner), {S(3), S(4), S(5), S(6), Any(*body)}};
    choose.calls = {CallSite{0, S(2), {not_below, below}, body->num_slots++}};
    body->stages.push_back(choose);
  }

  // Asks for each of some keys below that in slot 0, of which there may be
  // none, at once or after another block. What comes of them is added up.
  void AskForItems(PlannedProcedure* inner) {
    const auto list = static_cast<int32_t>(program_.blocks.size());
    program_.blocks.resize(list + 2);
    program_.launch_blocks[list] = [](const std::vector<Column>& in) {
      std::vector<Column> out(3);
      for (const int64_t key : in[0]) {
        const int64_t count = key % 4;
        out[0].push_back(count);
        for (int64_t item = 0; item < count; ++item) {
          out[1].push_back(key / (item + 1));
          out[2].push_back(ArgumentOf(out[1].back()));
        }
      }
      return out;
    };
    program_.launch_blocks[list + 1] = [](const std::vector<Column>& in) {
      Column sums;
      size_t next = 0;
      for (size_t row = 0; row < in[0].size(); ++row) {
        int64_t sum = in[0][row];
        for (int64_t i = 0; i < in[1][row]; ++i, ++next) {
          sum = (sum * 3 + in[2][next] * in[3][next]) % kModulus;
        }
        sums.push_back(sum);
      }
      EXPECT_EQ(next, in[2].size());
      return std::vector<Column>{sums};
    };
    const int32_t count = inner->num_slots;
    const Source others = Any(*inner);
    Stage find = Compute(list, {S(0)}, count, 3);
    CallSite map{
        7, {}, {Branch{subgraph(), {S(count + 1), S(count + 2)}}}, count + 3};
    map.num_mapped = 2;
    inner->lists = {PlannedList{count + 1, 0, S(count)},
                    PlannedList{count + 2, 0, S(count)},
                    PlannedList{count + 3, 0, S(count)}};
    inner->num_slots += 4;
    if (Below(2) == 0) {
      find.calls = {map};
      inner->stages.push_back(find);
    } else {
      inner->stages.push_back(find);
      const auto block = static_cast<int32_t>(program_.blocks.size());
      program_.blocks.emplace_back(
          [](const Column& in) { return Column{(in[0] + 1) % kModulus}; });
      Stage between = Compute(block, {others}, inner->num_slots++, 1);
      between.calls = {map};
      inner->stages.push_back(between);
    }
    inner->stages.push_back(
        Compute(list + 1, {others, S(count), S(count + 1), S(count + 3)},
                inner->num_slots++, 1));
  }

  void AddStages(int32_t depth, PlannedProcedure* procedure) {
    for (int32_t i = Below(3); i > 0; --i) AddStage(depth, procedure);
  }

  // Adds a block, whose last output is 0 or 1, and perhaps two branches.
  void AddStage(int32_t depth, PlannedProcedure* procedure) {
    const auto block = static_cast<int32_t>(program_.blocks.size());
    const int32_t num_outputs = 2 + Below(2);
    program_.blocks.emplace_back([block, num_outputs](const Column& in) {
      int64_t sum = block;
      for (const int64_t each : in) sum = (3 * sum + each) % kModulus;
      Column out;
      for (int32_t i = 1; i < num_outputs; ++i) {
        out.push_back((sum * (i + 1) + i) % kModulus);
      }
      out.push_back(sum % 2);
      return out;
    });
    Stage stage = Compute(block, {Any(*procedure), Any(*procedure)},
                          procedure->num_slots, num_outputs);
    procedure->num_slots += num_outputs;
    if (depth < 2 && Below(2) == 0) {
      std::vector<Branch> branches;
      for (int32_t i = 0; i < 2; ++i) {
        PlannedProcedure branch = OfSlots(2);
        AddStages(depth + 1, &branch);
        Finish(&branch);
        const Branch taken{Add(branch), {Any(*procedure), Any(*procedure)}};
        branches.push_back(taken);
      }
      const Source parity = S(procedure->num_slots - 1);
      stage.calls = {CallSite{0, parity, branches, procedure->num_slots++}};
    }
    procedure->stages.push_back(stage);
  }

  void Finish(PlannedProcedure* procedure) {
    procedure->outputs = {Any(*procedure)};
  }

  std::mt19937 random_;
  const First first_;
  IntegerProgram program_;
};

}  // namespace recursive_tf

#endif  // TESTS_CC_BATCHING_FLOW_PROGRAMS_H_
