#include "recursive_tf/cc/blocks/hot_team.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/parts.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

TEST(HotTeamTest, TheNextOpOfAPoolGetsTheTeam) {
  HotTeam hot;
  const int pool = 0;
  Functions kept;
  auto team = std::make_unique<Team>(3, KeptIn(&kept));
  const Team* const led = team.get();
  EXPECT_EQ(hot.Take(&pool, 3), nullptr);
  hot.Give(&pool, std::move(team));
  team = hot.Take(&pool, 3);
  EXPECT_EQ(team.get(), led);
  // Nobody else leads it meanwhile.
  EXPECT_EQ(hot.Take(&pool, 3), nullptr);
}

TEST(HotTeamTest, ATeamIsOfItsPoolAndSize) {
  HotTeam hot;
  const int pool = 0;
  const int other = 0;
  Functions kept;
  hot.Give(&pool, std::make_unique<Team>(3, KeptIn(&kept)));
  EXPECT_EQ(hot.Take(&other, 3), nullptr);
  EXPECT_EQ(hot.Take(&pool, 4), nullptr);
  EXPECT_NE(hot.Take(&pool, 3), nullptr);
}

TEST(HotTeamTest, MembersOfTheOpBeforeAreNotAskedForAgain) {
  HotTeam hot;
  const int pool = 0;
  Functions kept;
  auto team = std::make_unique<Team>(2, KeptIn(&kept));
  for (int op = 0; op < 3; ++op) {
    EXPECT_EQ(CountParts(team.get(), 5), std::vector<int>(5, 1));
    hot.Give(&pool, std::move(team));
    team = hot.Take(&pool, 2);
    ASSERT_NE(team, nullptr);
  }
  EXPECT_EQ(kept.size(), 1U);
}

TEST(HotTeamTest, TheLastTeamIsKept) {
  HotTeam hot;
  const int pools[2] = {};
  Functions kept;
  for (const int& pool : pools) {
    auto team = std::make_unique<Team>(2, KeptIn(&kept));
    CountParts(team.get(), 2);
    hot.Give(&pool, std::move(team));
  }
  EXPECT_EQ(hot.Take(&pools[0], 2), nullptr);
  EXPECT_NE(hot.Take(&pools[1], 2), nullptr);
  // A member of a team that is gone finds nothing to do.
  ASSERT_EQ(kept.size(), 2U);
  kept[0]();
}

TEST(HotTeamTest, HalfOfThePoolStaysAwake) {
  HotTeam hot;
  const int pool = 0;
  Functions kept;
  auto team = std::make_unique<Team>(4, KeptIn(&kept));
  CountParts(team.get(), 4);
  ASSERT_EQ(kept.size(), 3U);
  hot.Give(&pool, std::move(team));
  // The last one goes at once, which the next job sees.
  kept[2]();
  team = hot.Take(&pool, 4);
  CountParts(team.get(), 4);
  EXPECT_EQ(kept.size(), 4U);
}

TEST(HotTeamTest, LeadersTakeTurns) {
  HotTeam hot;
  std::atomic<int> num_right{0};
  std::vector<std::thread> leaders;
  for (int i = 0; i < 3; ++i) {
    leaders.emplace_back([&] {
      // As if they were of one pool.
      static const int pool = 0;
      bool is_right = true;
      for (int op = 0; op < 100; ++op) {
        std::unique_ptr<Team> team = hot.Take(&pool, 3);
        if (team == nullptr) {
          team = std::make_unique<Team>(
              3, [](const auto& run) { std::thread(run).detach(); });
        }
        for (int job = 0; job < 5; ++job) {
          is_right &= CountParts(team.get(), 9) == std::vector<int>(9, 1);
        }
        hot.Give(&pool, std::move(team));
      }
      num_right += is_right ? 1 : 0;
    });
  }
  for (std::thread& leader : leaders) leader.join();
  EXPECT_EQ(num_right, 3);
}

TEST(HotTeamTest, AnotherThreadLeadsNext) {
  HotTeam hot;
  const int pool = 0;
  Threads members;
  for (int op = 0; op < 50; ++op) {
    std::thread leader([&] {
      std::unique_ptr<Team> team = hot.Take(&pool, 3);
      if (team == nullptr) {
        team = std::make_unique<Team>(3, members.schedule());
      }
      EXPECT_EQ(CountParts(team.get(), 9), std::vector<int>(9, 1));
      hot.Give(&pool, std::move(team));
    });
    leader.join();
  }
}

}  // namespace
}  // namespace recursive_tf
