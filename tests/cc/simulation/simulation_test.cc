// What simulates is right itself: it finds what depends on the schedule, and
// shows it again.

#include "recursive_tf/cc/testing/simulation.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// Two threads that each read a number, and later write one more: returns the
// number, which is 2 unless both read the same.
int LoseAnUpdate(uint64_t seed, uint64_t* schedule = nullptr) {
  Simulation simulation(seed);
  int number = 0;
  simulation.Run([&] {
    std::vector<int> threads;
    for (int i = 0; i < 2; ++i) {
      threads.push_back(simulation.Start([&] {
        simulation.Meet();
        const int seen = number;
        simulation.Meet();
        number = seen + 1;
      }));
    }
    for (const int thread : threads) simulation.Join(thread);
  });
  if (schedule != nullptr) *schedule = simulation.schedule();
  return number;
}

TEST(SimulationTest, SomeSchedulesLoseAnUpdateAndOthersDoNot) {
  std::set<int> found;
  for (uint64_t seed = 0; seed < 100; ++seed) found.insert(LoseAnUpdate(seed));
  EXPECT_EQ(found, (std::set<int>{1, 2}));
}

TEST(SimulationTest, ASeedIsOneSchedule) {
  std::set<uint64_t> schedules;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    uint64_t first = 0;
    uint64_t again = 0;
    EXPECT_EQ(LoseAnUpdate(seed, &first), LoseAnUpdate(seed, &again));
    EXPECT_EQ(first, again);
    schedules.insert(first);
  }
  EXPECT_GT(schedules.size(), 5U);
}

TEST(SimulationTest, WhoOnlyLooksLetsOthersGoOn) {
  Simulation simulation(0);
  bool is_set = false;
  int num_looks = 0;
  simulation.Run([&] {
    simulation.Start([&] {
      for (int i = 0; i < 100; ++i) simulation.Meet();
      is_set = true;
      simulation.Change();
    });
    while (!is_set) {
      simulation.Look();
      ++num_looks;
    }
  });
  EXPECT_LT(num_looks, 100);
}

using SimulationDeathTest = ::testing::Test;

TEST(SimulationDeathTest, ADeadlockSaysWhichScheduleItIs) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  Simulation simulation(7);
  EXPECT_DEATH(
      simulation.Run([&] { simulation.WaitUntil([] { return false; }); }),
      "RECURSIVE_TF_SCHEDULE=7: nobody can go on");
}

}  // namespace
}  // namespace recursive_tf
