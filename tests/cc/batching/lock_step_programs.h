#ifndef TESTS_CC_BATCHING_LOCK_STEP_PROGRAMS_H_
#define TESTS_CC_BATCHING_LOCK_STEP_PROGRAMS_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

// Small recursive programs, each of another shape.

namespace recursive_tf {

inline std::vector<int64_t> Flat(const std::vector<Column>& results) {
  std::vector<int64_t> flat;
  for (const Column& row : results) {
    flat.insert(flat.end(), row.begin(), row.end());
  }
  return flat;
}

// f(n) = n < 2 ? n : f(n - 1) + f(n - 2), with the blocks
//   0: n -> n >= 2
//   1: n -> n - 1, n - 2
//   2: a, b -> a + b
inline IntegerProgram Fib() {
  enum : uint8_t { kFib, kBase, kMore };
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures.resize(3);

  PlannedProcedure& fib = program.plan.procedures[kFib];
  fib.num_arguments = 1;
  fib.num_slots = 3;  // n, n >= 2, result
  Stage decide = Compute(0, {S(0)}, 1, 1);
  decide.calls = {
      CallSite{0, S(1), {Branch{kBase, {S(0)}}, Branch{kMore, {S(0)}}}, 2}};
  fib.stages = {decide};
  fib.outputs = {S(2)};

  program.plan.procedures[kBase] = Returned();

  PlannedProcedure& more = program.plan.procedures[kMore];
  more.is_branch = true;
  more.num_arguments = 1;
  more.num_slots = 6;  // n, n - 1, n - 2, fib(n - 1), fib(n - 2), sum
  Stage split = Compute(1, {S(0)}, 1, 2);
  split.calls = {CallSite{0, {}, {Branch{kFib, {S(1)}}}, 3},
                 CallSite{1, {}, {Branch{kFib, {S(2)}}}, 4}};
  Stage add = Compute(2, {S(3), S(4)}, 5, 1);
  more.stages = {split, add};
  more.outputs = {S(5)};

  program.blocks = {
      [](const Column& in) { return Column{in[0] >= 2}; },
      [](const Column& in) { return Column{in[0] - 1, in[0] - 2}; },
      [](const Column& in) { return Column{in[0] + in[1]}; },
  };
  return program;
}

// f(n) = n == 0 ? 0 : f(n - 1) + 1, with the blocks
//   0: n -> n > 0, n - 1      1: x -> x + 1
inline IntegerProgram Chain() {
  enum : uint8_t { kChain, kBase, kMore };
  IntegerProgram program;
  program.plan.num_blocks = 2;
  program.plan.procedures.resize(3);
  PlannedProcedure& chain = program.plan.procedures[kChain];
  chain.num_arguments = 1;
  chain.num_slots = 4;  // n, n > 0, n - 1, result
  Stage decide = Compute(0, {S(0)}, 1, 2);
  decide.calls = {
      CallSite{0, S(1), {Branch{kBase, {S(0)}}, Branch{kMore, {S(2)}}}, 3}};
  chain.stages = {decide};
  chain.outputs = {S(3)};
  program.plan.procedures[kBase] = Returned();
  PlannedProcedure& more = program.plan.procedures[kMore];
  more.is_branch = true;
  more.num_arguments = 1;
  more.num_slots = 3;
  Stage descend;
  descend.calls = {CallSite{7, {}, {Branch{kChain, {S(0)}}}, 1}};
  Stage add = Compute(1, {S(1)}, 2, 1);
  more.stages = {descend, add};
  more.outputs = {S(2)};
  program.blocks = {
      [](const Column& in) { return Column{in[0] > 0, in[0] - 1}; },
      [](const Column& in) { return Column{in[0] + 1}; },
  };
  return program;
}

// f(n) = 1 + (n >= 1 ? f(n - 1) : 0) + (n >= 2 ? g(n) : 0), where g(n) is
// f(n - 2) for odd n and 0 for others: two conditionals that are waited for
// together, and in one of them a third. The blocks are
//   0: n -> n >= 1, n >= 2, 0
//   1: n -> n - 1
//   2: n -> n is odd
//   3: n -> n - 2
//   4: a, b -> 1 + a + b
inline IntegerProgram Beside() {
  enum : uint8_t { kF, kZero, kMore, kSame, kG, kEven, kOdd };
  IntegerProgram program;
  program.plan.num_blocks = 5;
  program.plan.procedures.resize(7);

  PlannedProcedure& f = program.plan.procedures[kF];
  f.num_arguments = 1;
  f.num_slots = 7;  // n, n >= 1, n >= 2, 0, a, b, result
  Stage decide = Compute(0, {S(0)}, 1, 3);
  decide.calls = {
      CallSite{0, S(1), {Branch{kZero, {S(3)}}, Branch{kMore, {S(0)}}}, 4},
      CallSite{0, S(2), {Branch{kSame, {S(3)}}, Branch{kG, {S(0), S(3)}}}, 5}};
  f.stages = {decide, Compute(4, {S(4), S(5)}, 6, 1)};
  f.outputs = {S(6)};

  for (const uint8_t branch : {kZero, kSame, kEven}) {
    program.plan.procedures[branch] = Returned();
  }
  for (const uint8_t branch : {kMore, kOdd}) {
    PlannedProcedure& more = program.plan.procedures[branch];
    more.is_branch = true;
    more.num_arguments = 1;
    more.num_slots = 3;  // n, less than n, result
    Stage call = Compute(branch == kMore ? 1 : 3, {S(0)}, 1, 1);
    call.calls = {CallSite{branch == kOdd, {}, {Branch{kF, {S(1)}}}, 2}};
    more.stages = {call};
    more.outputs = {S(2)};
  }
  PlannedProcedure& g = program.plan.procedures[kG];
  g.is_branch = true;
  g.num_arguments = 2;
  g.num_slots = 4;  // n, 0, n is odd, result
  Stage look = Compute(2, {S(0)}, 2, 1);
  look.calls = {
      CallSite{0, S(2), {Branch{kEven, {S(1)}}, Branch{kOdd, {S(0)}}}, 3}};
  g.stages = {look};
  g.outputs = {S(3)};

  program.blocks = {
      [](const Column& in) { return Column{in[0] >= 1, in[0] >= 2, 0}; },
      [](const Column& in) { return Column{in[0] - 1}; },
      [](const Column& in) { return Column{in[0] % 2}; },
      [](const Column& in) { return Column{in[0] - 2}; },
      [](const Column& in) { return Column{1 + in[0] + in[1]}; },
  };
  return program;
}

// f(n) = the sum of 1 + f(k) for all k < n, in a loop, which is 2^n - 1; the
// blocks are
//   0: n -> 0, 0
//   1: k, n -> k < n
//   2: f(k), k, sum -> k + 1, sum + 1 + f(k)
inline IntegerProgram LoopAroundACall() {
  enum : uint8_t { kF, kLoop, kEnd, kTurn };
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures.resize(4);

  PlannedProcedure& f = program.plan.procedures[kF];
  f.num_arguments = 1;
  f.num_slots = 5;  // n, 0, 0, the last k, the last sum
  Stage start = Compute(0, {S(0)}, 1, 2);
  start.calls = {CallSite{0, {}, {Branch{kLoop, {S(1), S(2), S(0)}}}, 3}};
  f.stages = {start};
  f.outputs = {S(4)};

  PlannedProcedure& loop = program.plan.procedures[kLoop];
  loop.is_branch = true;
  loop.num_arguments = 3;
  loop.num_slots = 6;  // k, sum, n, k < n, the last k, the last sum
  Stage look = Compute(1, {S(0), S(2)}, 3, 1);
  look.calls = {
      CallSite{0,
               S(3),
               {Branch{kEnd, {S(0), S(1)}}, Branch{kTurn, {S(0), S(1), S(2)}}},
               4}};
  loop.stages = {look};
  loop.outputs = {S(4), S(5)};

  PlannedProcedure& end = program.plan.procedures[kEnd];
  end.is_branch = true;
  end.num_arguments = 2;
  end.num_slots = 2;
  end.outputs = {S(0), S(1)};

  PlannedProcedure& turn = program.plan.procedures[kTurn];
  turn.is_branch = true;
  turn.num_arguments = 3;
  turn.num_slots = 6;  // k, sum, n, f(k), k + 1, the next sum
  Stage call;
  call.calls = {CallSite{0, {}, {Branch{kF, {S(0)}}}, 3}};
  turn.stages = {call, Compute(2, {S(3), S(0), S(1)}, 4, 2)};
  turn.goes_on = Branch{kLoop, {S(4), S(5), S(2)}};

  program.blocks = {
      [](const Column& /*in*/) { return Column{0, 0}; },
      [](const Column& in) { return Column{in[0] < in[1]}; },
      [](const Column& in) { return Column{in[1] + 1, in[2] + 1 + in[0]}; },
  };
  return program;
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BATCHING_LOCK_STEP_PROGRAMS_H_
