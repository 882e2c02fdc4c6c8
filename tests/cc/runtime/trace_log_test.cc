#include "recursive_tf/cc/runtime/trace_log.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

TEST(TraceLogTest, RecordsFromStartToStop) {
  TraceLog log;
  log.Add("before", "call", TraceLog::Clock::now(), 1);
  log.Start();
  EXPECT_TRUE(log.is_recording());
  log.Add("block", "forward", TraceLog::Clock::now(), 7);
  const std::vector<TraceEvent> events = log.Stop();
  EXPECT_FALSE(log.is_recording());
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "block");
  EXPECT_EQ(events[0].category, "forward");
  EXPECT_EQ(events[0].num_rows, 7);
  EXPECT_GE(events[0].duration_ns, 0);
  EXPECT_TRUE(log.Stop().empty());
}

TEST(TraceLogTest, ASecondStartForgets) {
  TraceLog log;
  log.Start();
  log.Add("old", "call", TraceLog::Clock::now(), 1);
  log.Start();
  EXPECT_TRUE(log.Stop().empty());
}

TEST(TraceSpanTest, IsAnEventOfTheGlobalLogIfThatRecords) {
  const std::string name = "block";
  {
    const TraceSpan unseen(name, "forward", 1);
  }
  TraceLog::Global().Start();
  {
    const TraceSpan outer(name, "call", 2);
    const TraceSpan inner(name, "forward", 3);
  }
  const std::vector<TraceEvent> events = TraceLog::Global().Stop();
  ASSERT_EQ(events.size(), 2U);
  // The inner one ends first.
  EXPECT_EQ(events[0].num_rows, 3);
  EXPECT_LE(events[1].start_ns, events[0].start_ns);
  EXPECT_EQ(events[0].thread, events[1].thread);
}

TEST(TraceLogTest, ThreadsMayAddWhileItStartsAndStops) {
  TraceLog log;
  RunInThreads(4, [&log](int thread) {
    for (int i = 0; i < 500; ++i) {
      if (thread == 0) log.Start();
      log.Add("block", "forward", TraceLog::Clock::now(), i);
      if (thread == 1) log.Stop();
    }
  });
  log.Start();
  EXPECT_TRUE(log.Stop().empty());
}

}  // namespace
}  // namespace recursive_tf
