#include "recursive_tf/cc/scheduling/op_times.h"

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(OpTimesTest, TheMedianIsNotMovedByAnOutlier) {
  OpTimes times;
  for (const int ns : {1'000'000, 12, 10, 11, 13}) times.Add(ns);
  EXPECT_EQ(times.Median(), 12);
}

TEST(OpTimesTest, OldRunsAreForgotten) {
  OpTimes times;
  for (int i = 0; i < 100; ++i) times.Add(1000);
  for (int i = 0; i < 16; ++i) times.Add(5);
  EXPECT_EQ(times.Median(), 5);
}

TEST(OpTimesTest, WhatNeverRanTookNoTime) { EXPECT_EQ(OpTimes().Median(), 0); }

}  // namespace
}  // namespace recursive_tf
