#include "recursive_tf/cc/batching/key_table.h"

#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

// Adds `count` keys, and looks after each for all that a map knows.
template <typename KeyAt>
void ExpectFindsAll(KeyTable* table, int32_t count, const KeyAt& key_at) {
  std::unordered_map<int64_t, int32_t> expected;
  for (int32_t i = 0; i < count; ++i) {
    const int64_t key = key_at(i);
    const auto known = expected.find(key);
    if (known != expected.end()) {
      ASSERT_EQ(table->Find(key), known->second);
      continue;
    }
    ASSERT_EQ(table->Find(key), KeyTable::kNone) << key;
    table->Add(key, i);
    expected[key] = i;
  }
  for (const auto& [key, number] : expected) {
    ASSERT_EQ(table->Find(key), number) << key;
  }
}

TEST(KeyTableTest, FindsKeysThatAreNumbersInARow) {
  KeyTable table;
  ExpectFindsAll(&table, 10000, [](int32_t i) { return i; });
}

TEST(KeyTableTest, FindsKeysThatWereTooLargeForTheArrayAtFirst) {
  KeyTable table;
  ExpectFindsAll(&table, 100000, [](int32_t i) { return 99999 - i; });
}

TEST(KeyTableTest, FindsFewLargeNumbersAndThenThoseBelow) {
  KeyTable table;
  table.Expect(64);
  ExpectFindsAll(&table, 100000,
                 [](int32_t i) { return i < 64 ? 1500 * (i + 1) : i; });
}

TEST(KeyTableTest, FindsAnyKeys) {
  std::mt19937_64 random(7);
  KeyTable table;
  table.Expect(500);
  ExpectFindsAll(&table, 20000, [&random](int32_t i) -> int64_t {
    const auto any = static_cast<int64_t>(random());
    return i % 3 == 0 ? any : any % 3000;
  });
}

TEST(KeyTableTest, FindsTheLeastAndTheLargestKey) {
  KeyTable table;
  EXPECT_EQ(table.Find(0), KeyTable::kNone);
  table.Add(std::numeric_limits<int64_t>::min(), 1);
  table.Add(std::numeric_limits<int64_t>::max(), 2);
  table.Add(-1, 3);
  EXPECT_EQ(table.Find(std::numeric_limits<int64_t>::min()), 1);
  EXPECT_EQ(table.Find(std::numeric_limits<int64_t>::max()), 2);
  EXPECT_EQ(table.Find(-1), 3);
  EXPECT_EQ(table.Find(0), KeyTable::kNone);
}

}  // namespace
}  // namespace recursive_tf
