#include "recursive_tf/cc/layout/run_layout.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/launch_reads.h"

namespace recursive_tf {
namespace {

// Reads 10 bytes of each variable, row by row.
LaunchRead Read(const std::vector<int32_t>& variables, int32_t output = 0) {
  LaunchRead read;
  read.bytes_per_row = 10;
  for (size_t i = 0; i < variables.size(); ++i) {
    read.rows.push_back({static_cast<int32_t>(i), variables[i], output});
  }
  return read;
}

RecordedLaunch LaunchOf(int32_t num_rows, std::vector<LaunchRead> reads = {},
                        int32_t block = 0) {
  RecordedLaunch launch;
  launch.block = block;
  launch.num_rows = num_rows;
  launch.reads = std::move(reads);
  return launch;
}

void Expect(const ReadBytes& bytes, int64_t all, int64_t in_order,
            int64_t in_order_planned) {
  EXPECT_EQ(bytes.all, all);
  EXPECT_EQ(bytes.in_order, in_order);
  EXPECT_EQ(bytes.in_order_planned, in_order_planned);
}

TEST(RunLayoutTest, ARunWithoutLaunchesReadsNothing) {
  Expect(PlanRun({}).of_functions, 0, 0, 0);
  Expect(PlanRun({LaunchOf(0)}).of_functions, 0, 0, 0);
}

TEST(RunLayoutTest, APermutationIsReadInOrderOfThePlan) {
  const RunLayout layout =
      PlanRun({LaunchOf(3), LaunchOf(3, {Read({2, 0, 1})})});
  Expect(layout.of_functions, 30, 0, 30);
  Expect(layout.of_programs, 0, 0, 0);
}

TEST(RunLayoutTest, ProgramsAreCountedApart) {
  std::vector<RecordedLaunch> launches = {
      LaunchOf(3), LaunchOf(3, {Read({0, 1, 2})}), LaunchOf(2, {Read({2, 0})})};
  launches[2].is_compiled = true;
  const RunLayout layout = PlanRun(launches);
  Expect(layout.of_functions, 30, 30, 30);
  Expect(layout.of_programs, 20, 0, 20);
}

TEST(RunLayoutTest, RowsOfTwoLaunchesMayStandSideBySide) {
  const RunLayout layout = PlanRun(
      {LaunchOf(2), LaunchOf(2, {}, 1), LaunchOf(2, {Read({0, 3})}, 2)});
  Expect(layout.of_functions, 20, 0, 20);
}

TEST(RunLayoutTest, ButNotTwoOutputsOfOneBlock) {
  LaunchRead mixed = Read({0, 3});
  mixed.rows[1].output = 1;
  const RunLayout layout =
      PlanRun({LaunchOf(2), LaunchOf(2), LaunchOf(2, {mixed}, 2)});
  Expect(layout.of_functions, 20, 0, 0);
}

TEST(RunLayoutTest, OutputsOfALaunchHaveOneOrder) {
  const RunLayout layout =
      PlanRun({LaunchOf(3),
               LaunchOf(3, {Read({2, 0, 1}), Read({1, 0, 2}, /*output=*/1)})});
  Expect(layout.of_functions, 60, 0, 30);
}

TEST(RunLayoutTest, ARowThatIsReadTwiceIsCopied) {
  const RunLayout layout =
      PlanRun({LaunchOf(3), LaunchOf(3, {Read({1, 1, 2})})});
  Expect(layout.of_functions, 30, 0, 0);
}

TEST(RunLayoutTest, RowsThatNoLaunchComputedAreCopied) {
  const RunLayout layout =
      PlanRun({LaunchOf(2), LaunchOf(2, {Read({0, ReadRow::kNoVariable})})});
  Expect(layout.of_functions, 20, 0, 0);
}

// [0 2 1 3] are what rows 0, 0, 1, 1 read.
TEST(RunLayoutTest, ItemsAreInOrderIfThoseOfAllRowsAre) {
  LaunchRead items = Read({0, 2, 1, 3});
  for (size_t i = 0; i < 4; ++i) items.rows[i].reader = i < 2 ? 0 : 1;
  const RunLayout layout = PlanRun({LaunchOf(4), LaunchOf(2, {items})});
  EXPECT_EQ(layout.of_functions.all, 40);
  EXPECT_EQ(layout.of_functions.in_order, 0);
  LaunchRead alone = Read({0, 1, 2, 3});
  for (ReadRow& row : alone.rows) row.reader = 0;
  Expect(PlanRun({LaunchOf(4), LaunchOf(1, {alone})}).of_functions, 40, 40, 40);
}

TEST(RunLayoutTest, JoinedRowsAreCopiedAsTheyCame) {
  LaunchRead joined = Read({0, 1, 2, 3});
  joined.is_joined = true;
  for (size_t i = 0; i < 4; ++i) joined.rows[i].reader = i < 2 ? 0 : 1;
  const RunLayout layout = PlanRun({LaunchOf(4), LaunchOf(2, {joined})});
  EXPECT_EQ(layout.of_functions.in_order, 0);
}

}  // namespace
}  // namespace recursive_tf
