#include "recursive_tf/cc/batching/report_board.h"

#include <cstdint>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/run_report.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

constexpr auto kForward = ReportBoard::Pass::kForward;
constexpr auto kBackward = ReportBoard::Pass::kBackward;

RunReport ReportOf(int64_t bytes) {
  RunReport report(2);
  report.bytes_moved = bytes;
  return report;
}

// Returns the bytes of the last report of "f", if there is one.
std::optional<int64_t> LastBytes(ReportBoard* board, ReportBoard::Pass pass) {
  const std::optional<RunReport> report = board->Read("f", pass);
  if (!report.has_value()) return std::nullopt;
  return report->bytes_moved;
}

TEST(ReportBoardTest, KeepsTheLastReportOfWhatIsWatched) {
  ReportBoard board;
  board.Watch("f");
  EXPECT_TRUE(board.IsWatched("f"));
  EXPECT_EQ(LastBytes(&board, kForward), std::nullopt);
  board.Post("f", kForward, ReportOf(1));
  board.Post("f", kForward, ReportOf(2));
  board.Post("f", kBackward, ReportOf(3));
  EXPECT_EQ(LastBytes(&board, kForward), 2);
  EXPECT_EQ(LastBytes(&board, kBackward), 3);
}

TEST(ReportBoardTest, KeepsNothingOfWhatNobodyWatches) {
  ReportBoard board;
  board.Post("f", kForward, ReportOf(1));
  EXPECT_FALSE(board.IsWatched("f"));
  board.Watch("g");
  board.Post("f", kForward, ReportOf(1));
  EXPECT_FALSE(board.Read("f", kForward).has_value());
}

TEST(ReportBoardTest, ForgetsWithTheLastWatcher) {
  ReportBoard board;
  board.Watch("f");
  board.Watch("f");
  board.Post("f", kForward, ReportOf(1));
  board.Unwatch("f");
  EXPECT_TRUE(board.Read("f", kForward).has_value());
  board.Unwatch("f");
  board.Unwatch("f");
  EXPECT_FALSE(board.IsWatched("f"));
  board.Watch("f");
  EXPECT_FALSE(board.Read("f", kForward).has_value());
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
      board.Post(name, kForward, ReportOf(i));
      EXPECT_TRUE(board.Read(name, kForward).has_value());
      board.Unwatch(name);
    }
  });
  EXPECT_FALSE(board.IsWatched("0"));
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
