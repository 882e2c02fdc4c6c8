#include "recursive_tf/cc/blocks/hot_teams.h"

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

TEST(HotTeamsTest, TheNextOpOfAPoolGetsTheTeam) {
  HotTeams teams;
  const int pool = 0;
  Functions kept;
  auto team = std::make_unique<Team>(3, KeptIn(&kept));
  const Team* const led = team.get();
  EXPECT_EQ(teams.Take(&pool, 3), nullptr);
  teams.Give(&pool, std::move(team));
  team = teams.Take(&pool, 3);
  EXPECT_EQ(team.get(), led);
  // Nobody else leads it meanwhile.
  EXPECT_EQ(teams.Take(&pool, 3), nullptr);
}

TEST(HotTeamsTest, ATeamIsOfItsPoolAndSize) {
  HotTeams teams;
  const int pool = 0;
  const int other = 0;
  Functions kept;
  teams.Give(&pool, std::make_unique<Team>(3, KeptIn(&kept)));
  EXPECT_EQ(teams.Take(&other, 3), nullptr);
  EXPECT_EQ(teams.Take(&pool, 4), nullptr);
  EXPECT_NE(teams.Take(&pool, 3), nullptr);
}

TEST(HotTeamsTest, MembersOfTheOpBeforeAreNotAskedForAgain) {
  HotTeams teams;
  const int pool = 0;
  Functions kept;
  auto team = std::make_unique<Team>(2, KeptIn(&kept));
  for (int op = 0; op < 3; ++op) {
    EXPECT_EQ(CountParts(team.get(), 5), std::vector<int>(5, 1));
    teams.Give(&pool, std::move(team));
    team = teams.Take(&pool, 2);
    ASSERT_NE(team, nullptr);
  }
  EXPECT_EQ(kept.size(), 1U);
}

TEST(HotTeamsTest, TheLastTeamsAreKept) {
  HotTeams teams;
  const int pools[3] = {};
  Functions kept;
  for (const int& pool : pools) {
    auto team = std::make_unique<Team>(2, KeptIn(&kept));
    CountParts(team.get(), 2);
    teams.Give(&pool, std::move(team));
  }
  EXPECT_EQ(teams.Take(&pools[0], 2), nullptr);
  EXPECT_NE(teams.Take(&pools[1], 2), nullptr);
  EXPECT_NE(teams.Take(&pools[2], 2), nullptr);
  // A member of a team that is gone finds nothing to do.
  ASSERT_EQ(kept.size(), 3U);
  kept[0]();
}

TEST(HotTeamsTest, OfSeveralTheLastOneLedIsTaken) {
  HotTeams teams;
  const int pool = 0;
  Functions kept;
  teams.Give(&pool, std::make_unique<Team>(2, KeptIn(&kept)));
  auto last = std::make_unique<Team>(2, KeptIn(&kept));
  const Team* const led = last.get();
  teams.Give(&pool, std::move(last));
  EXPECT_EQ(teams.Take(&pool, 2).get(), led);
}

TEST(HotTeamsTest, LeadersTakeTurns) {
  HotTeams teams;
  Threads members[2];
  const int pools[2] = {};
  std::atomic<int> num_right{0};
  std::vector<std::thread> leaders;
  for (int i = 0; i < 2; ++i) {
    leaders.emplace_back([&, i] {
      bool is_right = true;
      for (int op = 0; op < 100; ++op) {
        std::unique_ptr<Team> team = teams.Take(&pools[i], 3);
        if (team == nullptr) {
          team = std::make_unique<Team>(3, members[i].schedule());
        }
        for (int job = 0; job < 5; ++job) {
          is_right &= CountParts(team.get(), 9) == std::vector<int>(9, 1);
        }
        teams.Give(&pools[i], std::move(team));
      }
      num_right += is_right ? 1 : 0;
    });
  }
  for (std::thread& leader : leaders) leader.join();
  EXPECT_EQ(num_right, 2);
}

TEST(HotTeamsTest, AnotherThreadLeadsNext) {
  HotTeams teams;
  const int pool = 0;
  Threads members;
  for (int op = 0; op < 50; ++op) {
    std::thread leader([&] {
      std::unique_ptr<Team> team = teams.Take(&pool, 3);
      if (team == nullptr) {
        team = std::make_unique<Team>(3, members.schedule());
      }
      EXPECT_EQ(CountParts(team.get(), 9), std::vector<int>(9, 1));
      teams.Give(&pool, std::move(team));
    });
    leader.join();
  }
}

}  // namespace
}  // namespace recursive_tf
