#include "recursive_tf/cc/batching/launch_recorder.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/block_order.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/batching/policies.h"
#include "recursive_tf/cc/batching/rehearsal.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"

namespace recursive_tf {
namespace {

// Returns what was recorded of a run.
LaunchGraph Recorded(const IntegerProgram& program, const Column& arguments,
                     const std::string& policy) {
  LaunchRecorder recorder(BlockOrder(program.plan).ranks());
  IntegerRun run(&program, policy);
  run.set_recorder(&recorder);
  run.Run({arguments}, static_cast<int32_t>(arguments.size()));
  return recorder.graph();
}

TEST(LaunchRecorderTest, ANodeWaitsForWhatItsCallsDid) {
  Forest forest;
  forest.kind = {Forest::kLeaf, Forest::kLeaf, Forest::kSum};
  forest.left = {-1, -1, 0};
  forest.right = {-1, -1, 1};
  forest.roots = {2};
  const IntegerProgram program = ForestProgram(&forest);
  const LaunchGraph graph = Recorded(program, forest.roots, "agenda");
  const auto waits_of = [&graph](int32_t node) {
    LaunchNodes waits;
    graph.ForEachWait(node, [&](int32_t before) { waits.push_back(before); });
    return waits;
  };
  ASSERT_EQ(graph.num_nodes(), 6);  // look, look, look, leaf, leaf, sum
  EXPECT_EQ(waits_of(0), LaunchNodes());
  EXPECT_EQ(waits_of(1), LaunchNodes{0});
  EXPECT_EQ(waits_of(2), LaunchNodes{0});
  EXPECT_EQ(waits_of(3), LaunchNodes{1});
  EXPECT_EQ(waits_of(4), LaunchNodes{2});
  EXPECT_EQ(graph.block(5), 2);
  // Of the caller's own last node, too, which these waited for.
  EXPECT_EQ(waits_of(5), (LaunchNodes{0, 3, 4}));
}

// What a rehearsal is for: it launches what the run itself would.
TEST(LaunchRecorderTest, ARehearsalTakesAsManyLaunchesAsTheRun) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const Forest forest = MakeForest(4, 9, seed);
    const IntegerProgram program = ForestProgram(&forest);
    const LaunchGraph graph = Recorded(program, forest.roots, "depth");
    Rehearsal rehearsal(&graph);
    for (const char* const policy :
         {"critical_path", "agenda", "depth", "fsm sort 2,3:3 3,2:2",
          "fsm base 0,1:1 2,3:2"}) {
      IntegerRun run(&program, policy);
      run.Run({forest.roots}, static_cast<int32_t>(forest.roots.size()));
      EXPECT_EQ(rehearsal.Run(*MakePolicy(policy, &rehearsal.order())),
                run.launches().size());
    }
  }
}

TEST(LaunchRecorderTest, WhatIsRecordedIsTheSameUnderAnyPolicy) {
  const Forest forest = MakeForest(5, 9, /*seed=*/6);
  const IntegerProgram program = ForestProgram(&forest);
  const LaunchGraph by_agenda = Recorded(program, forest.roots, "agenda");
  const LaunchGraph by_depth = Recorded(program, forest.roots, "depth");
  EXPECT_EQ(by_agenda.num_nodes(), by_depth.num_nodes());
  EXPECT_EQ(Rehearsal(&by_agenda).LeastLaunches(),
            Rehearsal(&by_depth).LeastLaunches());
}

TEST(LaunchRecorderTest, ResultsAreThoseOfARunThatIsNotRecorded) {
  const Forest forest = MakeForest(3, 9, /*seed=*/7);
  const IntegerProgram program = ForestProgram(&forest);
  const auto num_rows = static_cast<int32_t>(forest.roots.size());
  LaunchRecorder recorder(BlockOrder(program.plan).ranks());
  IntegerRun recorded(&program);
  recorded.set_recorder(&recorder);
  IntegerRun run(&program);
  EXPECT_EQ(recorded.Run({forest.roots}, num_rows),
            run.Run({forest.roots}, num_rows));
}

}  // namespace
}  // namespace recursive_tf
