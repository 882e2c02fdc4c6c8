// Graphi's teams in simulated threads: whatever the order in which threads
// meet, each operation runs once, and all of them end.

// clang-format off: what is simulated comes after what simulates.
#include "recursive_tf/cc/testing/simulated_std.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/scheduling/cores.cc"
#include "recursive_tf/cc/scheduling/helpers.cc"
#include "recursive_tf/cc/scheduling/teams.cc"
#include "tests/cc/simulation/schedules.h"
// clang-format on

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;

// A random graph of operations. An operation that fails makes nothing ready, as
// do all after it; one may also be cancelled from outside.
class Graph {
 public:
  Graph(Simulation* simulation, Teams* teams, int num_threads)
      : simulation_(*simulation),
        teams_(*teams),
        num_threads_(num_threads),
        nodes_(1 + simulation->Draw(12)),
        // Of half of all graphs nothing fails.
        fails_at_(simulation->Draw(2 * nodes_.size())) {
    for (size_t i = 1; i < nodes_.size(); ++i) {
      nodes_[i].level = static_cast<int64_t>(simulation->Draw(5));
      const uint64_t num_before = simulation->Draw(3);
      for (uint64_t k = 0; k < num_before; ++k) {
        nodes_[simulation->Draw(i)].after.push_back(i);
        ++nodes_[i].num_pending;
      }
    }
  }

  // Makes ready what waits for nothing.
  void Submit() {
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].num_pending == 0) ready.push_back(i);
    }
    for (const size_t i : ready) Submit(i);
  }

  void Cancel() { is_cancelled_ = true; }

  void Check() const {
    EXPECT_EQ(num_running_, 0);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      EXPECT_EQ(nodes_[i].num_runs, nodes_[i].num_submits);
      EXPECT_LE(nodes_[i].num_runs, 1);
      if (!is_cancelled_ && fails_at_ >= nodes_.size()) {
        EXPECT_EQ(nodes_[i].num_runs, 1);
      }
    }
  }

 private:
  struct Node {
    int64_t level = 0;
    int num_pending = 0;
    std::vector<size_t> after;
    int num_submits = 0;
    int num_runs = 0;
  };

  void Submit(size_t node) {
    ++nodes_[node].num_submits;
    teams_.Submit(nodes_[node].level, [this, node] { Run(node); });
  }

  void Run(size_t node) {
    const int team = Teams::TeamOfThread();
    ASSERT_GE(team, 0);
    ++num_running_;
    EXPECT_LE(num_running_, teams_.num_teams());
    if (num_threads_ > 1) RunParts(team);
    simulation_.Meet();
    ++nodes_[node].num_runs;
    --num_running_;
    if (is_cancelled_ || node == fails_at_) return;
    // As TensorFlow's executor does: all that got ready, from this thread.
    for (const size_t after : nodes_[node].after) {
      if (--nodes_[after].num_pending == 0) Submit(after);
    }
  }

  // An operation whose own thread only waits for its parts.
  void RunParts(int team) {
    int num_left = 1 + static_cast<int>(simulation_.Draw(3));
    const int num_parts = num_left;
    for (int i = 0; i < num_parts; ++i) {
      Teams::Work part = [&, team] {
        EXPECT_EQ(Teams::TeamOfThread(), team);
        simulation_.Meet();
        --num_left;
      };
      ASSERT_TRUE(Teams::Help(&part));
    }
    simulation_.WaitUntil([&] { return num_left == 0; });
  }

  Simulation& simulation_;
  Teams& teams_;
  const int num_threads_;
  std::vector<Node> nodes_;
  const size_t fails_at_;
  int num_running_ = 0;
  bool is_cancelled_ = false;
};

void RunGraphs(uint64_t seed) {
  Simulation simulation(seed);
  simulation.Run([&simulation] {
    const int num_threads = 1 + static_cast<int>(simulation.Draw(2));
    auto teams = std::make_unique<Teams>(
        1 + static_cast<int>(simulation.Draw(3)), num_threads,
        /*pinned=*/false);
    std::vector<std::unique_ptr<Graph>> graphs;
    const uint64_t num_graphs = 1 + simulation.Draw(3);
    for (uint64_t i = 0; i < num_graphs; ++i) {
      graphs.push_back(
          std::make_unique<Graph>(&simulation, teams.get(), num_threads));
    }
    // Steps from several threads, one of which is given up.
    std::vector<std::thread> threads;
    for (const auto& graph : graphs) {
      threads.emplace_back([&graph] { graph->Submit(); });
    }
    if (simulation.DrawOneIn(2)) graphs.front()->Cancel();
    for (std::thread& thread : threads) thread.join();
    teams.reset();
    for (const auto& graph : graphs) graph->Check();
  });
}

TEST(SimulatedTeamsTest, EachOperationRunsOnceAndAllOfThemEnd) {
  ForEachSchedule(300, RunGraphs);
}

}  // namespace
}  // namespace recursive_tf
