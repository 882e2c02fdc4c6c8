#include "recursive_tf/cc/batching/flow_table.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {
namespace {

TEST(FlowTableTest, NothingMovesWhenThereAreMore) {
  FlowTable table(/*num_cells=*/2, /*num_results=*/1);
  for (int32_t id = 0; id < 1000; ++id) {
    FlowInvocation* const added = table.Add();
    ASSERT_EQ(added->id, id);
    added->site = id;
    added->cells()[1] = {id, 1};
    table.result(added, 0) = {id, 2};
  }
  const FlowInvocation* const first = table[0];
  for (int32_t id = 1000; id < 2000; ++id) table.Add();
  EXPECT_EQ(table[0], first);
  for (int32_t id = 0; id < 1000; ++id) {
    EXPECT_EQ(table[id]->site, id);
    EXPECT_EQ(table[id]->cells()[1], (ValueRow{id, 1}));
    EXPECT_EQ(table.result(id, 0), (ValueRow{id, 2}));
  }
}

TEST(FlowTableTest, PlacesOfCalleesAreUsedAgain) {
  FlowTable table(/*num_cells=*/1, /*num_results=*/1);
  for (int32_t id = 0; id < 4; ++id) table.Add();
  const int64_t num_bytes = table.num_bytes();
  // The first one called the second and the third, and the last one nobody.
  table[0]->first_ended = table[2];
  table[2]->next_ended = table[1];
  table.FreeCallees(*table[0]);
  table.FreeCallees(*table[3]);
  EXPECT_EQ(table.Add()->id, 2);
  EXPECT_EQ(table.Add()->id, 1);
  EXPECT_EQ(table[2]->next_ended, nullptr);
  EXPECT_EQ(table.num_bytes(), num_bytes);
  EXPECT_EQ(table.Add()->id, 4);
  EXPECT_GT(table.num_bytes(), num_bytes);
}

}  // namespace
}  // namespace recursive_tf
