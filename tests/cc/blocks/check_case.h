#ifndef RECURSIVE_TF_TESTS_CC_BLOCKS_CHECK_CASE_H_
#define RECURSIVE_TF_TESTS_CC_BLOCKS_CHECK_CASE_H_

// Runs block programs with the code of every instruction set, and compares all
// that they give with what evaluate.h says.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/block_runner.h"
#include "recursive_tf/cc/blocks/fused.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/cells.h"
#include "tests/cc/blocks/evaluate.h"
#include "tests/cc/blocks/random_rows.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {

// Runs a case with the code of an instruction set, and compares all outputs.
template <typename T>
void CheckWith(Matrices matrices, const Case& given, int64_t num_rows,
               InstructionSet set, int num_threads, double tolerance) {
  std::mt19937 random(static_cast<uint32_t>(num_rows));
  std::vector<Numbers> inputs;
  std::vector<Numbers> invariants;
  const RowCounts counts = RandomCounts(given.graph, num_rows, &random);
  for (size_t i = 0; i < given.input_widths.size(); ++i) {
    inputs.push_back(RandomNumbers(
        RowsOfInput(given.graph, counts, i) * given.input_widths[i], &random));
  }
  for (const int64_t size : given.invariant_sizes) {
    invariants.push_back(RandomNumbers(size, &random));
  }
  const Evaluator wanted(given.graph, counts, inputs, invariants);
  const BlockGraph fused = Fused(given.graph);
  const BlockProgram program = Lower(fused);

  Threads threads;
  Team team(num_threads, threads.schedule());
  const Kernels<T>& kernels = KernelsFor<T>(set);
  std::vector<std::vector<T>> input_rows;
  BlockRows<T> rows;
  rows.num_rows = counts.num_rows;
  for (const std::vector<int64_t>& each : counts.owners) {
    rows.owners.push_back(each.data());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_rows.push_back(Cast<T>(inputs[i]));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    rows.inputs.push_back({input_rows[i].data(), given.input_widths[i]});
    rows.num_shared.push_back(0);
  }
  std::vector<std::vector<T>> numbers;
  std::vector<typename BlockInvariants<T>::Numbers> spans;
  for (const Numbers& each : invariants) numbers.push_back(Cast<T>(each));
  for (const std::vector<T>& each : numbers) {
    spans.push_back({each.data(), static_cast<int64_t>(each.size())});
  }
  for (const std::vector<T>& each : numbers)
    rows.tables.push_back({each.data()});
  for (int32_t id = 0; id < given.graph.size(); ++id) {
    const Node& node = given.graph[id];
    if (node.kind != NodeKind::kLookUp) continue;
    rows.tables[node.index].num_rows =
        static_cast<int64_t>(numbers[node.index].size()) / node.width;
  }
  const BlockInvariants<T> placed(&program, &kernels, spans, matrices, &team);
  std::vector<std::vector<T>> memory;
  for (const BufferUse& use : program.buffers) {
    memory.emplace_back(counts.num_rows[use.axis] * use.width, T(NAN));
  }
  for (std::vector<T>& each : memory) rows.buffers.push_back(each.data());
  std::vector<std::vector<T>> sum_memory;
  for (size_t i = 0; i < fused.outputs.size(); ++i) {
    sum_memory.emplace_back(wanted.output(i).size(), T(NAN));
  }
  for (std::vector<T>& each : sum_memory) rows.sums.push_back(each.data());
  BlockRunner<T> runner(&program, &kernels, &placed, &team);
  ASSERT_TRUE(runner.Run(rows));

  for (size_t i = 0; i < fused.outputs.size(); ++i) {
    const std::optional<int32_t>& buffer = program.output_buffers[i];
    const std::vector<T>& got =
        buffer.has_value() ? memory[*buffer] : sum_memory[i];
    const Numbers& want = wanted.output(i);
    ASSERT_EQ(got.size(), want.size()) << "output " << i;
    for (size_t k = 0; k < want.size(); ++k) {
      ASSERT_NEAR(got[k], want[k], tolerance * (1 + std::fabs(want[k])))
          << "output " << i << ", number " << k;
    }
  }
}

// The same wherever products find their matrices.
template <typename T>
void Check(const Case& given, int64_t num_rows, InstructionSet set,
           int num_threads, double tolerance) {
  for (const Matrices matrices : {Matrices::kPacked, Matrices::kStanding}) {
    CheckWith<T>(matrices, given, num_rows, set, num_threads, tolerance);
  }
}

inline void CheckAll(const Case& given,
                     const std::vector<int64_t>& sizes = {1, 2, 7, 61},
                     double float_tolerance = 2e-5) {
  for (const InstructionSet set : InstructionSets()) {
    for (const int64_t num_rows : sizes) {
      for (const int num_threads : {1, 3}) {
        SCOPED_TRACE(testing::Message()
                     << KernelsFor<float>(set).name << ", " << num_rows
                     << " rows, " << num_threads << " threads");
        Check<float>(given, num_rows, set, num_threads, float_tolerance);
        Check<double>(given, num_rows, set, num_threads, 1e-12);
      }
    }
  }
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_TESTS_CC_BLOCKS_CHECK_CASE_H_
