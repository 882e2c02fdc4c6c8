#include "recursive_tf/cc/base/equal_rows.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/base/pooled_vector.h"

namespace recursive_tf {
namespace {

// Groups letters, with a hash for each that may be the same for several.
template <typename Hash>
EqualRows GroupsOf(const std::string& rows, const Hash& hash) {
  return {static_cast<int32_t>(rows.size()),
          [&](int32_t row) { return static_cast<uint64_t>(hash(rows[row])); },
          [&](int32_t a, int32_t b) { return rows[a] == rows[b]; }};
}

TEST(EqualRowsTest, NoRowsHaveNoGroups) {
  EXPECT_EQ(EqualRows().num_groups(), 0);
  const EqualRows none = GroupsOf("", [](char c) { return c; });
  EXPECT_EQ(none.num_groups(), 0);
  EXPECT_TRUE(none.group_of().empty());
}

TEST(EqualRowsTest, GroupsAreNumberedByTheirFirstRows) {
  const EqualRows groups = GroupsOf("bacbba", [](char c) { return c; });
  EXPECT_EQ(groups.firsts(), (PooledVector<int32_t>{0, 1, 2}));
  EXPECT_EQ(groups.group_of(), (PooledVector<int32_t>{0, 1, 2, 0, 0, 1}));
}

TEST(EqualRowsTest, RowsOfOneHashAreKeptApart) {
  std::string rows;
  for (int i = 0; i < 3; ++i) {
    for (char c = 'a'; c <= 'z'; ++c) rows.push_back(c);
  }
  const EqualRows groups = GroupsOf(rows, [](char) { return 7; });
  EXPECT_EQ(groups.num_groups(), 26);
  for (int32_t row = 0; row < static_cast<int32_t>(rows.size()); ++row) {
    EXPECT_EQ(groups.group_of()[row], row % 26);
  }
}

}  // namespace
}  // namespace recursive_tf
