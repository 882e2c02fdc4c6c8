#ifndef RECURSIVE_TF_TESTS_CC_BLOCKS_NUM_SPARED_H_
#define RECURSIVE_TF_TESTS_CC_BLOCKS_NUM_SPARED_H_

// Compares runs that take shared rows once with runs that take each row.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/block_graph.h"
#include "recursive_tf/cc/blocks/block_invariants.h"
#include "recursive_tf/cc/blocks/block_program.h"
#include "recursive_tf/cc/blocks/block_runner.h"
#include "recursive_tf/cc/blocks/fused.h"
#include "recursive_tf/cc/blocks/kernels.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {

// What a block program gave.
template <typename T>
struct SparingRun {
  std::vector<std::vector<T>> outputs;
  int64_t num_flops_spared = 0;
};

// Runs a graph, whose only invariant is a matrix, if it has any. `rows` lacks
// the buffers, and if no output is a sum, the sums. The outputs are those that
// are no sums, by number.
template <typename T>
SparingRun<T> RunSparing(const BlockGraph& graph, const Kernels<T>& kernels,
                         int num_threads, Matrices matrices,
                         const std::vector<T>& matrix, BlockRows<T> rows) {
  const BlockProgram program = Lower(Fused(graph));
  Threads threads;
  Team team(num_threads, threads.schedule());
  const BlockInvariants<T> placed(
      &program, &kernels,
      {{matrix.data(), static_cast<int64_t>(matrix.size())}}, matrices, &team);
  std::vector<std::vector<T>> buffers;
  for (const BufferUse& use : program.buffers) {
    buffers.emplace_back(rows.num_rows[use.axis] * use.width, T(NAN));
  }
  for (std::vector<T>& each : buffers) rows.buffers.push_back(each.data());
  rows.sums.resize(graph.outputs.size(), nullptr);
  BlockRunner<T> runner(&program, &kernels, &placed, &team);
  EXPECT_TRUE(runner.Run(rows));
  SparingRun<T> run;
  run.num_flops_spared = runner.num_flops_spared();
  for (const std::optional<int32_t>& buffer : program.output_buffers) {
    run.outputs.push_back(buffer.has_value() ? buffers[*buffer]
                                             : std::vector<T>());
  }
  return run;
}

// Returns how many multiplications of a case were spared, after comparing what
// all kernels give with what they give if nothing is said to be shared.
// `run(given, kernels, num_threads)` returns a SparingRun.
template <typename T, typename Given, typename RunCase>
int64_t NumSparedAs(const Given& given, const RunCase& run, double tolerance) {
  Given alone = given;
  alone.num_shared = 0;
  int64_t num_spared = -1;
  for (const InstructionSet set : InstructionSets()) {
    const Kernels<T>& kernels = KernelsFor<T>(set);
    for (const int num_threads : {1, 3}) {
      const SparingRun<T> wanted = run(alone, kernels, num_threads);
      EXPECT_EQ(wanted.num_flops_spared, 0);
      const SparingRun<T> found = run(given, kernels, num_threads);
      for (size_t i = 0; i < wanted.outputs.size(); ++i) {
        for (size_t k = 0; k < wanted.outputs[i].size(); ++k) {
          EXPECT_NEAR(found.outputs[i][k], wanted.outputs[i][k], tolerance);
        }
      }
      EXPECT_TRUE(num_spared < 0 || num_spared == found.num_flops_spared / 2);
      num_spared = found.num_flops_spared / 2;
    }
  }
  return num_spared;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_TESTS_CC_BLOCKS_NUM_SPARED_H_
