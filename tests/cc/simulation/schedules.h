#ifndef TESTS_CC_SIMULATION_SCHEDULES_H_
#define TESTS_CC_SIMULATION_SCHEDULES_H_

#include <cstdint>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

// How many schedules a test goes through, and one of them again:
//
//   RECURSIVE_TF_SCHEDULES=100000 build/cc-tests/none/simulation/teams_test
//   RECURSIVE_TF_SCHEDULE=4711 build/cc-tests/none/simulation/teams_test

namespace recursive_tf_schedules {

inline uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

// Calls `check(seed)` for many seeds, up to the first that fails, which is
// printed. `by_default` is how many take about a second.
template <typename Check>
void ForEachSchedule(uint64_t by_default, const Check& check) {
  const uint64_t end = NumberFrom("RECURSIVE_TF_SCHEDULES", by_default);
  const bool is_one = std::getenv("RECURSIVE_TF_SCHEDULE") != nullptr;
  const uint64_t first = NumberFrom("RECURSIVE_TF_SCHEDULE", 0);
  for (uint64_t seed = first; seed < (is_one ? first + 1 : end); ++seed) {
    check(seed);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "RECURSIVE_TF_SCHEDULE=" << seed << " shows it again";
      return;
    }
  }
}

}  // namespace recursive_tf_schedules

#endif  // TESTS_CC_SIMULATION_SCHEDULES_H_
