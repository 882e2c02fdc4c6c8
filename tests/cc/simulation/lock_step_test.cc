// The batched schedule in any order of launches: results are the same, calls
// are followed before or after a launch is computed, and a launch that fails,
// or that is cancelled, leaves a run that can be dropped.

#include "recursive_tf/cc/batching/lock_step.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/frontier.h"
#include "recursive_tf/cc/batching/looked_at.h"
#include "recursive_tf/cc/batching/policy.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "tests/cc/batching/lock_step_programs.h"
#include "tests/cc/batching/shared_program.h"
#include "tests/cc/simulation/schedules.h"

namespace recursive_tf {
namespace {

using recursive_tf_schedules::ForEachSchedule;
using Random = std::mt19937_64;

// Launches whatever waits, or only what waits at one depth.
class AnyPolicy : public Policy {
 public:
  explicit AnyPolicy(Random* random) : random_(*random) {}

  Choice Choose(const Frontier& frontier) const override {
    std::vector<int32_t> waiting;
    for (int32_t block = 0; block < frontier.num_blocks(); ++block) {
      if (frontier.count(block) > 0) waiting.push_back(block);
    }
    const int32_t block = waiting[random_() % waiting.size()];
    const bool is_partial = random_() % 3 == 0;
    return {block, is_partial ? frontier.least_depth(block) : kEveryDepth};
  }

 private:
  Random& random_;
};

// A program, what it is called with, and what it returns.
struct Case {
  IntegerProgram program;
  Column arguments;
  Column expected;
  // What the program refers to.
  std::shared_ptr<const void> data;
};

int64_t FibOf(int64_t n) { return n < 2 ? n : FibOf(n - 1) + FibOf(n - 2); }

Case Numbers(IntegerProgram program, const std::function<int64_t(int64_t)>& f,
             Random* random) {
  Case made{std::move(program), {}, {}, nullptr};
  const uint64_t num_rows = 1 + (*random)() % 4;
  for (uint64_t i = 0; i < num_rows; ++i) {
    const auto n = static_cast<int64_t>((*random)() % 7);
    made.arguments.push_back(n);
    made.expected.push_back(f(n));
  }
  return made;
}

Case Trees(Random* random) {
  auto forest = std::make_shared<const Forest>(
      MakeForest(/*num_trees=*/1 + static_cast<int>((*random)() % 3),
                 /*max_leaves=*/8, static_cast<uint32_t>((*random)())));
  Case made{
      ForestProgram(forest.get(), /*pushes=*/true), forest->roots, {}, {}};
  for (const int64_t root : forest->roots) {
    made.expected.push_back(Evaluate(*forest, root));
  }
  made.data = forest;
  return made;
}

Case SharedNodes(Random* random) {
  auto graph = std::make_shared<const Graph>(
      RandomGraph(/*num_leaves=*/1 + static_cast<int>((*random)() % 3),
                  /*num_nodes=*/4 + static_cast<int>((*random)() % 12),
                  static_cast<uint32_t>((*random)())));
  const Column values = ValuesOf(*graph);
  Case made{SharedProgram(graph.get()), {}, {}, graph};
  for (int i = 0; i < 3; ++i) {
    const auto node = static_cast<int64_t>((*random)() % values.size());
    made.arguments.push_back(node);
    made.expected.push_back(values[node]);
  }
  return made;
}

Case Draw(Random* random) {
  switch ((*random)() % 5) {
    case 0:
      return Numbers(Fib(), FibOf, random);
    case 1:
      return Numbers(Chain(), [](int64_t n) { return n; }, random);
    case 2:
      return Numbers(
          LoopAroundACall(), [](int64_t n) { return (int64_t{1} << n) - 1; },
          random);
    case 3:
      return Trees(random);
    default:
      return SharedNodes(random);
  }
}

struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Lets a launch fail, of half of all runs: between two rows of it.
void PlantFailure(Case* made, Random* random) {
  if ((*random)() % 2 == 0) return;
  auto num_left = std::make_shared<uint64_t>((*random)() % 60);
  for (IntegerProgram::Block& block : made->program.blocks) {
    block = [block, num_left](const Column& row) {
      if ((*num_left)-- == 0) throw Stopped("a row");
      return block(row);
    };
  }
}

Column RunOnce(const Case& made, Random* random) {
  ActivationLimits limits;
  if ((*random)() % 8 == 0) limits.max_activations = 1 + (*random)() % 6;
  IntegerRun run(
      &made.program,
      [random](const BlockOrder& /*order*/) {
        return std::make_unique<const AnyPolicy>(random);
      },
      limits);
  if ((*random)() % 2 == 0) run.set_shares_rows();
  const std::vector<bool> looked_at = FindLookedAt(made.program.plan);
  run.set_goes_on(
      [&](int32_t block) { return !looked_at[block] && (*random)() % 2 == 0; });
  const auto num_rows = static_cast<int32_t>(made.arguments.size());
  Column values;
  for (const Column& row : run.Run({made.arguments}, num_rows)) {
    values.push_back(row.at(0));
  }
  if (values.empty()) {
    EXPECT_TRUE(run.steps().refused_call().has_value());
    return made.expected;
  }
  EXPECT_EQ(run.steps().num_alive(), 0);
  return values;
}

void RunProgram(uint64_t seed) {
  Random random(seed);
  const Case whole = Draw(&random);
  Case made = whole;
  PlantFailure(&made, &random);
  try {
    EXPECT_EQ(RunOnce(made, &random), made.expected);
  } catch (const Stopped&) {
    // What follows finds nothing of it.
  }
  EXPECT_EQ(RunOnce(whole, &random), whole.expected);
}

TEST(SimulatedLockStepTest, EveryOrderOfLaunchesGivesTheSame) {
  ForEachSchedule(3000, RunProgram);
}

}  // namespace
}  // namespace recursive_tf
