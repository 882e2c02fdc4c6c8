#ifndef TESTS_CC_BLOCKS_PARTS_H_
#define TESTS_CC_BLOCKS_PARTS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

using Functions = std::vector<std::function<void()>>;

// A schedule that keeps what it is to run.
inline Team::Schedule KeptIn(Functions* functions) {
  return [functions](std::function<void()> run) {
    functions->push_back(std::move(run));
  };
}

// Runs a job, and returns how often each part ran.
inline std::vector<int> CountParts(Team* team, int64_t num_parts) {
  // Each part has a number of its own, that no lock guards.
  std::vector<int> counts(num_parts, 0);
  team->Run(num_parts, [&](int64_t part) { ++counts[part]; });
  return counts;
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BLOCKS_PARTS_H_
