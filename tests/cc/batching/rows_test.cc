#include "recursive_tf/cc/batching/rows.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

std::vector<RowRun> RunsOf(const std::vector<ValueRow>& all) {
  Rows rows;
  for (const ValueRow row : all) rows.Add(row);
  EXPECT_EQ(rows.num_rows(), all.size());
  Rows at_once;
  at_once.Add({9, 9});
  at_once.Assign(all.size(), [&all](size_t i) { return all[i]; });
  EXPECT_EQ(at_once.num_rows(), all.size());
  EXPECT_EQ(at_once.runs(), rows.runs());
  return rows.runs();
}

TEST(RowsTest, NoRowsAreNoRuns) { EXPECT_TRUE(RunsOf({}).empty()); }

TEST(RowsTest, RowsSideBySideAreOneRun) {
  EXPECT_EQ(RunsOf({{4, 7}, {4, 8}, {4, 9}}),
            (std::vector<RowRun>{{4, 7, 3, 1}}));
}

TEST(RowsTest, RowsOfAnotherValueAreAnotherRun) {
  EXPECT_EQ(RunsOf({{4, 7}, {5, 8}}),
            (std::vector<RowRun>{{4, 7, 1, 1}, {5, 8, 1, 1}}));
}

TEST(RowsTest, RowsOutOfOrderAreRunsOfTheirOwn) {
  EXPECT_EQ(RunsOf({{4, 8}, {4, 7}, {4, 9}}),
            (std::vector<RowRun>{{4, 8, 1, 1}, {4, 7, 1, 1}, {4, 9, 1, 1}}));
}

TEST(RowsTest, OneRowAgainAndAgainIsOneRun) {
  EXPECT_EQ(RunsOf({{0, 3}, {0, 3}, {0, 3}}),
            (std::vector<RowRun>{{0, 3, 3, 0}}));
}

TEST(RowsTest, ARepeatedRowDoesNotGoOnWithTheNext) {
  EXPECT_EQ(RunsOf({{0, 3}, {0, 3}, {0, 4}}),
            (std::vector<RowRun>{{0, 3, 2, 0}, {0, 4, 1, 1}}));
}

TEST(RowsTest, RowsSideBySideDoNotGoOnWithTheLastAgain) {
  EXPECT_EQ(RunsOf({{0, 3}, {0, 4}, {0, 4}}),
            (std::vector<RowRun>{{0, 3, 2, 1}, {0, 4, 1, 1}}));
}

}  // namespace
}  // namespace recursive_tf
