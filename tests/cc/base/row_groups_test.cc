#include "recursive_tf/cc/base/row_groups.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// Returns the places of each row, by the row.
template <typename Index>
std::map<Index, std::vector<int32_t>> GroupsOf(const std::vector<Index>& rows) {
  const RowGroups groups(rows.data(), static_cast<int32_t>(rows.size()));
  std::map<Index, std::vector<int32_t>> found;
  for (const int32_t head : groups.heads()) {
    std::vector<int32_t>& places = found[rows[head]];
    EXPECT_TRUE(places.empty()) << "row " << rows[head] << " has two heads";
    for (int32_t place = head; place >= 0; place = groups.next(place)) {
      places.push_back(place);
    }
  }
  return found;
}

template <typename Index>
std::map<Index, std::vector<int32_t>> Expected(const std::vector<Index>& rows) {
  std::map<Index, std::vector<int32_t>> expected;
  for (size_t i = 0; i < rows.size(); ++i) {
    expected[rows[i]].push_back(static_cast<int32_t>(i));
  }
  return expected;
}

TEST(RowGroupsTest, NoPlacesHaveNoGroups) {
  const RowGroups groups(static_cast<const int64_t*>(nullptr), 0);
  EXPECT_TRUE(groups.heads().empty());
}

TEST(RowGroupsTest, PlacesOfARowAreInTheirOrder) {
  const std::vector<int64_t> rows = {7, 3, 7, 7, 0, 3};
  EXPECT_EQ(GroupsOf(rows), Expected(rows));
}

TEST(RowGroupsTest, RowsOfAnySizeAreKeptApart) {
  const std::vector<int64_t> rows = {std::numeric_limits<int64_t>::max(), -1, 0,
                                     int64_t{1} << 32, -1};
  EXPECT_EQ(GroupsOf(rows), Expected(rows));
}

// Those with one slot for all of them, as far as the hash is known, too.
TEST(RowGroupsTest, ManyRowsThatFollowOneAnother) {
  for (const int32_t step : {1, 2, 64, 1024, 65536}) {
    std::vector<int32_t> rows;
    for (int32_t i = 0; i < 3000; ++i) rows.push_back(i % 1000 * step);
    EXPECT_EQ(GroupsOf(rows), Expected(rows)) << step;
  }
}

}  // namespace
}  // namespace recursive_tf
