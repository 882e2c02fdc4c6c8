#include "recursive_tf/cc/batching/launch_reads.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {
namespace {

Rows RowsOf(const std::vector<ValueRow>& all) {
  Rows rows;
  for (const ValueRow row : all) rows.Add(row);
  return rows;
}

Launch LaunchOf(int32_t num_activations, std::vector<JoinedRows> inputs) {
  Launch launch;
  launch.block = 3;
  for (int32_t i = 0; i < num_activations; ++i) launch.activations.push_back(i);
  launch.inputs = std::move(inputs);
  return launch;
}

// A row of value i has 8 * (i + 1) bytes.
void AddTo(LaunchReads* reads, const Launch& launch, int32_t num_values,
           bool is_compiled = true) {
  reads->Add(launch, is_compiled, num_values,
             [](int32_t value) { return 8 * (value + 1); });
}

TEST(LaunchReadsTest, RowsAreNumberedLaunchByLaunch) {
  LaunchReads reads;
  reads.AddValues(2);
  AddTo(&reads, LaunchOf(2, {}), 1);  // Value 2.
  AddTo(&reads, LaunchOf(3, {}), 2);  // Values 3 and 4.
  AddTo(&reads,
        LaunchOf(2, {{RowsOf({{4, 2}, {2, 0}})}, {RowsOf({{3, 1}, {3, 1}})}}),
        1);
  const RecordedLaunch& launch = reads.launches().back();
  EXPECT_EQ(launch.block, 3);
  EXPECT_EQ(launch.num_rows, 2);
  EXPECT_TRUE(launch.is_compiled);
  ASSERT_EQ(launch.reads.size(), 2U);
  EXPECT_EQ(launch.reads[0].bytes_per_row, 40);
  EXPECT_EQ(launch.reads[0].rows, (std::vector<ReadRow>{{0, 4, 1}, {1, 0, 0}}));
  EXPECT_EQ(launch.reads[1].rows, (std::vector<ReadRow>{{0, 3, 0}, {1, 3, 0}}));
}

TEST(LaunchReadsTest, WhatNoLaunchComputedIsNotRead) {
  LaunchReads reads;
  reads.AddValues(1);
  AddTo(&reads, LaunchOf(2, {{RowsOf({{0, 0}, {0, 1}})}}), 1);
  EXPECT_TRUE(reads.launches()[0].reads.empty());
  AddTo(&reads, LaunchOf(2, {{RowsOf({{0, 0}, {1, 1}})}}), 1);
  EXPECT_EQ(reads.launches()[1].reads[0].rows,
            (std::vector<ReadRow>{{0, ReadRow::kNoVariable, 0}, {1, 1, 0}}));
}

TEST(LaunchReadsTest, FunctionsReadJoinedRowsSideBySide) {
  LaunchReads reads;
  AddTo(&reads, LaunchOf(2, {}), 2);
  const Launch launch =
      LaunchOf(2, {{RowsOf({{0, 0}, {0, 1}}), RowsOf({{1, 1}, {1, 0}})}});
  AddTo(&reads, launch, 1, /*is_compiled=*/false);
  ASSERT_EQ(reads.launches()[1].reads.size(), 1U);
  const LaunchRead& joined = reads.launches()[1].reads[0];
  EXPECT_TRUE(joined.is_joined);
  EXPECT_EQ(joined.bytes_per_row, 12);
  EXPECT_EQ(joined.rows,
            (std::vector<ReadRow>{{0, 0, 0}, {0, 1, 1}, {1, 1, 0}, {1, 0, 1}}));
  AddTo(&reads, launch, 1, /*is_compiled=*/true);
  EXPECT_EQ(reads.launches()[2].reads.size(), 2U);
}

TEST(LaunchReadsTest, ItemsAreReadForTheirActivation) {
  LaunchReads reads;
  AddTo(&reads, LaunchOf(3, {}), 1);
  Launch launch = LaunchOf(3, {{RowsOf({{0, 2}, {0, 0}, {0, 1}})}});
  launch.list_inputs.push_back({0, 0, {2, 0, 1}});
  launch.list_outputs.push_back({1, {}});
  AddTo(&reads, launch, 2);
  EXPECT_EQ(reads.launches()[1].reads[0].rows,
            (std::vector<ReadRow>{{0, 2, 0}, {0, 0, 0}, {2, 1, 0}}));
  // The items of value 2 have no numbers.
  AddTo(&reads, LaunchOf(1, {{RowsOf({{2, 0}})}, {RowsOf({{1, 2}})}}), 1);
  ASSERT_EQ(reads.launches()[2].reads.size(), 1U);
  EXPECT_EQ(reads.launches()[2].reads[0].rows,
            (std::vector<ReadRow>{{0, 5, 0}}));
}

TEST(LaunchReadsTest, SharedRowsAreReadOnce) {
  LaunchReads reads;
  AddTo(&reads, LaunchOf(3, {}), 1);
  Launch launch = LaunchOf(3, {{RowsOf({{0, 2}, {0, 1}, {0, 2}})}});
  const std::vector<int32_t> kinds = {7, 8, 7};
  launch.shared = EqualRows(
      3, [&](int32_t row) { return uint64_t{1} * kinds[row]; },
      [&](int32_t a, int32_t b) { return kinds[a] == kinds[b]; });
  AddTo(&reads, launch, 1);
  EXPECT_EQ(reads.launches()[1].num_rows, 2);
  EXPECT_EQ(reads.launches()[1].reads[0].rows,
            (std::vector<ReadRow>{{0, 2, 0}, {1, 1, 0}}));
}

}  // namespace
}  // namespace recursive_tf
