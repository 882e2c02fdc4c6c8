#ifndef RECURSIVE_TF_TESTS_CC_BLOCKS_NUM_SPARED_H_
#define RECURSIVE_TF_TESTS_CC_BLOCKS_NUM_SPARED_H_

// Compares runs that take shared rows once with runs that take each row.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/kernels.h"

namespace recursive_tf {

// What a block program gave.
template <typename T>
struct SparingRun {
  std::vector<std::vector<T>> outputs;
  int64_t num_flops_spared = 0;
};

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
