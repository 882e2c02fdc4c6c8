// Work that a pool helps with, in simulated threads: whether helpers come or
// not, each piece runs once, and who works until the end comes to it.

// clang-format off: what is simulated comes after what simulates.
#include "recursive_tf/cc/testing/simulated_std.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/helped_work.h"
#include "tests/cc/simulation/schedules.h"
// clang-format on

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;

// A step whose pieces add others. The last one of all ends it.
class Step {
 public:
  Step(Simulation* simulation, HelpedWork* work)
      : simulation_(*simulation), work_(*work) {}

  void Add(int height) {
    ++num_pending_;
    ++num_added_;
    work_.Add([this, height] {
      simulation_.Meet();
      // A piece that fails adds nothing.
      const uint64_t num_children =
          height == 0 || simulation_.DrawOneIn(4) ? 0 : simulation_.Draw(3);
      for (uint64_t i = 0; i < num_children; ++i) Add(height - 1);
      ++num_run_;
      if (--num_pending_ == 0) work_.End();
    });
  }

  void Check() const {
    EXPECT_EQ(num_run_, num_added_);
    EXPECT_EQ(num_pending_, 0);
  }

 private:
  Simulation& simulation_;
  HelpedWork& work_;
  int num_pending_ = 0;
  int num_added_ = 0;
  int num_run_ = 0;
};

void RunStep(uint64_t seed) {
  Simulation simulation(seed);
  std::vector<std::function<void()>> late;
  simulation.Run([&] {
    const bool helps = !simulation.DrawOneIn(3);
    const auto most_helpers = static_cast<int>(simulation.Draw(4));
    auto work = HelpedWork::With(
        [&](HelpedWork::Work run) {
          if (helps && !simulation.DrawOneIn(3)) {
            simulation.Start(std::move(run));
          } else {
            late.push_back(std::move(run));
          }
        },
        most_helpers);
    Step step(&simulation, work.get());
    step.Add(/*height=*/4);
    work->WorkUntilEnd();
    step.Check();
    EXPECT_LE(late.size(), static_cast<size_t>(most_helpers));
    work.reset();
    // Who comes late finds nothing.
    for (std::function<void()>& run : late) run();
    late.clear();
  });
}

TEST(SimulatedHelpedWorkTest, EachPieceRunsOnceAndTheWorkEnds) {
  ForEachSchedule(500, RunStep);
}

}  // namespace
}  // namespace recursive_tf
