#include "recursive_tf/cc/batching/report_board.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

constexpr auto kForward = LastRuns::Pass::kForward;
constexpr auto kBackward = LastRuns::Pass::kBackward;

RunReport ReportOf(int64_t bytes) {
  RunReport report(2);
  report.bytes_moved = bytes;
  return report;
}

// Returns the bytes of the last report of "f", if there is one.
std::optional<int64_t> LastBytes(ReportBoard* board, LastRuns::Pass pass) {
  const std::optional<RunReport> report = board->Read("f", pass);
  if (!report.has_value()) return std::nullopt;
  return report->bytes_moved;
}

TEST(ReportBoardTest, KeepsTheLastReportOfWhatSomebodyHolds) {
  ReportBoard board;
  const std::shared_ptr<LastRuns> runs = board.Of("f");
  EXPECT_EQ(LastBytes(&board, kForward), std::nullopt);
  runs->Post(kForward, ReportOf(1));
  runs->Post(kForward, ReportOf(2));
  runs->Post(kBackward, ReportOf(3));
  EXPECT_EQ(LastBytes(&board, kForward), 2);
  EXPECT_EQ(LastBytes(&board, kBackward), 3);
}

TEST(ReportBoardTest, AllWhoHoldThoseOfOneProgramHaveTheSame) {
  ReportBoard board;
  const std::shared_ptr<LastRuns> runs = board.Of("f");
  EXPECT_EQ(board.Of("f"), runs);
  EXPECT_NE(board.Of("g"), runs);
}

TEST(ReportBoardTest, ForgetsWhatNobodyHolds) {
  ReportBoard board;
  board.Of("f")->Post(kForward, ReportOf(1));
  EXPECT_EQ(LastBytes(&board, kForward), std::nullopt);
  EXPECT_EQ(board.size(), 0U);
}

TEST(ReportBoardTest, WatchersHoldThem) {
  ReportBoard board;
  board.Watch("f");
  board.Watch("f");
  EXPECT_TRUE(board.Of("f")->is_watched());
  board.Of("f")->Post(kForward, ReportOf(1));
  board.Unwatch("f");
  EXPECT_TRUE(board.Of("f")->is_watched());
  EXPECT_EQ(LastBytes(&board, kForward), 1);
  board.Unwatch("f");
  EXPECT_EQ(board.size(), 0U);
  board.Unwatch("f");
  EXPECT_FALSE(board.Of("f")->is_watched());
}

TEST(ReportBoardTest, WhatRanBeforeSomebodyWatchesIsThere) {
  ReportBoard board;
  const std::shared_ptr<LastRuns> runs = board.Of("f");
  EXPECT_FALSE(runs->is_watched());
  runs->Post(kForward, ReportOf(1));
  board.Watch("f");
  EXPECT_TRUE(runs->is_watched());
  EXPECT_EQ(LastBytes(&board, kForward), 1);
  board.Unwatch("f");
  EXPECT_FALSE(runs->is_watched());
}

TEST(ReportBoardTest, ThereIsOneOfTheProcess) {
  EXPECT_EQ(&ReportBoard::Global(), &ReportBoard::Global());
}

TEST(ReportBoardTest, ThreadsMayPostAndWatch) {
  ReportBoard board;
  RunInThreads(4, [&board](int thread) {
    const std::string name = std::to_string(thread % 2);
    for (int i = 0; i < 500; ++i) {
      board.Watch(name);
      board.Of(name)->Post(kForward, ReportOf(i));
      EXPECT_TRUE(board.Read(name, kForward).has_value());
      board.Unwatch(name);
    }
  });
  EXPECT_EQ(board.size(), 0U);
}

TEST(StopwatchTest, AddsLaps) {
  Stopwatch watch;
  double seconds = 0;
  watch.Lap(&seconds);
  const double first = seconds;
  watch.Lap(&seconds);
  EXPECT_GE(first, 0);
  EXPECT_GE(seconds, first);
}

}  // namespace
}  // namespace recursive_tf
