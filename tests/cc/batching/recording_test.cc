#include "recursive_tf/cc/batching/recording.h"

#include <cstddef>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/launch_graph.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

RecordedRun RunOf(const std::string& subgraph) {
  return {subgraph, {"f 0"}, LaunchGraph({0})};
}

TEST(RecordingTest, HasTheRunsThatEndedSinceTheStart) {
  Recording recording;
  EXPECT_FALSE(recording.is_recording());
  recording.Add(RunOf("before"));
  recording.Start();
  EXPECT_TRUE(recording.is_recording());
  recording.Add(RunOf("first"));
  recording.Add(RunOf("second"));
  const std::vector<RecordedRun> runs = recording.Stop();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].subgraph, "first");
  EXPECT_EQ(runs[1].subgraph, "second");
  EXPECT_FALSE(recording.is_recording());
  recording.Add(RunOf("after"));
  EXPECT_TRUE(recording.Stop().empty());
}

TEST(RecordingTest, AStartForgetsWhatWasBefore) {
  Recording recording;
  recording.Start();
  recording.Add(RunOf("first"));
  recording.Start();
  EXPECT_TRUE(recording.Stop().empty());
}

TEST(RecordingTest, ThereIsOneOfTheProcess) {
  EXPECT_EQ(&Recording::Global(), &Recording::Global());
}

TEST(RecordingTest, ThreadsMayAddWhileItStartsAndEnds) {
  Recording recording;
  RunInThreads(4, [&recording](int thread) {
    for (int i = 0; i < 500; ++i) {
      if (thread == 0) recording.Start();
      recording.Add(RunOf("f"));
      if (thread == 1) {
        for (const RecordedRun& run : recording.Stop()) {
          EXPECT_EQ(run.subgraph, "f");
        }
      }
    }
  });
}

}  // namespace
}  // namespace recursive_tf
