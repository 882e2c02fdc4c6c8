// Jobs that a team starts while its leader does something else, and members
// that are asked for before there is a job.

#include <atomic>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

TEST(TeamStartedTest, MembersWorkOnAJobThatWasStarted) {
  Threads threads;
  Team team(2, threads.schedule());
  std::atomic<int> num_begun{0};
  team.Start(2, [&](int64_t) { ++num_begun; });
  while (num_begun < 2) std::this_thread::yield();
  team.Finish();
  EXPECT_EQ(num_begun, 2);
}

TEST(TeamStartedTest, TheLeaderRunsWhatNobodyBeganOfAJobThatWasStarted) {
  Functions kept;
  Team team(3, KeptIn(&kept));
  std::vector<int> counts(7, 0);
  team.Start(7, [&](int64_t part) { ++counts[part]; });
  EXPECT_EQ(counts, std::vector<int>(7, 0));
  EXPECT_EQ(kept.size(), 2U);
  team.Finish();
  EXPECT_EQ(counts, std::vector<int>(7, 1));
  // Nothing is left of it.
  team.Finish();
  EXPECT_EQ(counts, std::vector<int>(7, 1));
}

TEST(TeamStartedTest, AJobComesAfterTheOneThatWasStarted) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  std::vector<int64_t> order;
  team.Start(2, [&](int64_t part) { order.push_back(10 + part); });
  // Not shared.
  team.Run(1, [&](int64_t part) { order.push_back(part); });
  team.Run(2, [&](int64_t part) { order.push_back(20 + part); });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 10, 11, 20, 21}));
  team.Start(1, [&](int64_t) { order.push_back(30); });
  team.Start(1, [&](int64_t) { order.push_back(40); });
  EXPECT_EQ(order.back(), 30);
  team.Finish();
  EXPECT_EQ(order.back(), 40);
}

TEST(TeamStartedTest, WhatAStartedPartThrowsIsThrownByWhoWaits) {
  Threads threads;
  Team team(3, threads.schedule());
  for (int job = 0; job < 50; ++job) {
    std::atomic<int> num_ended{0};
    const auto start = [&] {
      team.Start(8, [&](int64_t part) {
        ++num_ended;
        if (part == 3) throw std::bad_alloc();
      });
    };
    start();
    EXPECT_THROW(team.Finish(), std::bad_alloc);
    EXPECT_EQ(num_ended, 8);
    start();
    EXPECT_THROW(CountParts(&team, 4), std::bad_alloc);
    EXPECT_EQ(num_ended, 16);
    EXPECT_EQ(CountParts(&team, 4), std::vector<int>(4, 1));
  }
}

TEST(TeamStartedTest, ATeamSaysWhetherItSharedAnything) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  CountParts(&team, 1);
  team.Start(2, [](int64_t) {});
  EXPECT_FALSE(team.has_shared());
  team.Finish();
  EXPECT_TRUE(team.has_shared());
  Team other(2, KeptIn(&kept));
  CountParts(&other, 2);
  EXPECT_TRUE(other.has_shared());
}

}  // namespace
}  // namespace recursive_tf
