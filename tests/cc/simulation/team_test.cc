// The team of a launch in simulated threads: members come late, or never, or
// are about to go; parts fail; and in lock step each part of each job runs
// once.

// clang-format off: what is simulated comes after what simulates.
#include "recursive_tf/cc/testing/simulated_std.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.cc"
#include "tests/cc/simulation/schedules.h"
// clang-format on

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;

// A pool that starts what it is given some time, or only when it ends.
class Pool {
 public:
  explicit Pool(Simulation* simulation) : simulation_(*simulation) {}

  Team::Schedule schedule() {
    return [this](std::function<void()> run) {
      if (simulation_.DrawOneIn(8)) throw std::bad_alloc();
      if (simulation_.DrawOneIn(4)) {
        late_.push_back(std::move(run));
      } else {
        simulation_.Start(std::move(run));
      }
    };
  }

  void RunLate() {
    for (std::function<void()>& run : late_) run();
  }

 private:
  Simulation& simulation_;
  std::vector<std::function<void()>> late_;
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One job. What it is made of dies with it: nobody may touch it afterwards.
void RunJob(Simulation* simulation, Team* team) {
  const auto num_parts = static_cast<int64_t>(simulation->Draw(7));
  const bool may_fail = simulation->DrawOneIn(3);
  const bool has_meanwhile = simulation->DrawOneIn(2);
  bool meanwhile_fails = false;
  auto runs = std::make_unique<std::vector<int>>(num_parts, 0);
  bool is_alive = true;
  int num_failed = 0;
  int num_meanwhile = 0;
  const auto part = [&](int64_t i) {
    ASSERT_TRUE(is_alive);
    ++(*runs)[i];
    simulation->Meet();
    ASSERT_TRUE(is_alive);
    if (may_fail && simulation->DrawOneIn(3)) {
      ++num_failed;
      throw Failure("a part");
    }
  };
  bool has_thrown = false;
  try {
    std::function<void()> meanwhile;
    if (has_meanwhile) {
      meanwhile = [&] {
        ++num_meanwhile;
        simulation->Meet();
        meanwhile_fails = may_fail && simulation->DrawOneIn(3);
        if (meanwhile_fails) throw Failure("meanwhile");
      };
    }
    const Team::Meanwhile scope(team, meanwhile);
    team->Run(num_parts, part);
  } catch (const Failure&) {
    has_thrown = true;
  }
  is_alive = false;
  EXPECT_EQ(has_thrown, num_failed > 0 || meanwhile_fails);
  EXPECT_LE(num_meanwhile, 1);
  // Without others the leader stops at the first part that fails.
  const bool is_shared = num_parts > 1 && team->num_threads() > 1;
  for (const int count : *runs) {
    EXPECT_EQ(count, has_thrown && !is_shared ? count : 1);
  }
}

void RunJobs(uint64_t seed) {
  Simulation simulation(seed);
  Pool pool(&simulation);
  simulation.Run([&] {
    {
      Team team(1 + static_cast<int>(simulation.Draw(4)), pool.schedule());
      const uint64_t num_jobs = 1 + simulation.Draw(5);
      for (uint64_t i = 0; i < num_jobs; ++i) {
        if (simulation.DrawOneIn(4)) {
          team.Wake(static_cast<int>(simulation.Draw(6)));
        }
        RunJob(&simulation, &team);
        if (simulation.DrawOneIn(4)) team.Rest();
      }
    }
    pool.RunLate();
  });
}

TEST(SimulatedTeamTest, EachPartOfEachJobRunsOnceWhoeverComes) {
  ForEachSchedule(500, RunJobs);
}

}  // namespace
}  // namespace recursive_tf
