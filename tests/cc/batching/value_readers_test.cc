#include "recursive_tf/cc/batching/value_readers.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {
namespace {

using Values = std::vector<int32_t>;

TEST(ValueReadersTest, AValueDiesWithItsLastReader) {
  ValueReaders readers;
  EXPECT_EQ(readers.AddValues(2), 0);
  readers.Add(0, 2);
  readers.Add({1, 7});
  readers.Remove({0, 0});
  EXPECT_EQ(readers.TakeDead(), Values{});
  readers.Remove({0, 3});
  EXPECT_EQ(readers.TakeDead(), Values({0}));
  EXPECT_EQ(readers.TakeDead(), Values{});
  readers.Remove({1, 7});
  EXPECT_EQ(readers.TakeDead(), Values({1}));
}

TEST(ValueReadersTest, ManyRowsAreWhatEachOfThemIs) {
  ValueReaders readers;
  readers.AddValues(3);
  readers.Add(0, 3);
  readers.Add(1, 2);
  readers.Add(2, 2);
  const std::vector<ValueRow> rows = {{0, 0}, {0, 5}, {2, 1},
                                      {0, 1}, {2, 0}, {1, 0}};
  readers.Remove(rows.data(), rows.size());
  EXPECT_EQ(readers.TakeDead(), Values({0, 2}));
  readers.Remove(rows.data(), 0);
  EXPECT_EQ(readers.TakeDead(), Values{});
  readers.Remove(&rows.back(), 1);
  EXPECT_EQ(readers.TakeDead(), Values({1}));
}

TEST(ValueReadersTest, WhatNobodyEverReadsIsDead) {
  ValueReaders readers;
  readers.AddValues(3);
  readers.Add({1, 0});
  readers.FindUnread(0, 3);
  EXPECT_EQ(readers.TakeDead(), Values({0, 2}));
}

}  // namespace
}  // namespace recursive_tf
