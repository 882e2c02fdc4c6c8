#include "recursive_tf/cc/scheduling/teams.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

constexpr bool kMoving = false;

// What others wait for.
class Gate {
 public:
  // Who waited may destroy the gate as soon as the lock is let go.
  void Open() {
    const std::lock_guard<std::mutex> lock(mu_);
    is_open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [this] { return is_open_; });
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

TEST(TeamsTest, RunTheHighestLevelFirstAndOfEqualOnesTheOldest) {
  std::vector<int> order;
  {
    Gate submitted;
    Teams teams(1, 1, kMoving);
    teams.Submit(0, [&] { submitted.Wait(); });
    const std::vector<int> levels = {1, 3, 2, 3, 1};
    for (size_t i = 0; i < levels.size(); ++i) {
      teams.Submit(levels[i], [&order, i] { order.push_back(i); });
    }
    submitted.Open();
  }
  EXPECT_EQ(order, (std::vector<int>{1, 3, 2, 0, 4}));
}

TEST(TeamsTest, AllRunAtTheSameTime) {
  constexpr int kTeams = 5;
  std::atomic<int> num_running = 0;
  Gate all;
  std::set<int> numbers;
  std::mutex mu;
  {
    Teams teams(kTeams, 1, kMoving);
    for (int i = 0; i < kTeams; ++i) {
      teams.Submit(0, [&] {
        {
          const std::lock_guard<std::mutex> lock(mu);
          numbers.insert(Teams::TeamOfThread());
        }
        // None ends before the last one has begun.
        if (++num_running == kTeams) all.Open();
        all.Wait();
      });
    }
  }
  EXPECT_EQ(numbers, (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Teams::TeamOfThread(), -1);
}

TEST(TeamsTest, ALeaderKeepsTheLongestWayAndGivesTheRestAway) {
  std::thread::id first;
  std::thread::id longest;
  std::thread::id shortest;
  {
    Gate begun;
    Teams teams(2, 1, kMoving);
    teams.Submit(9, [&] {
      first = std::this_thread::get_id();
      teams.Submit(1, [&] {
        shortest = std::this_thread::get_id();
        begun.Open();
      });
      teams.Submit(5, [&] { longest = std::this_thread::get_id(); });
      // The other team has what is not kept before this one is done.
      begun.Wait();
    });
    // Teams that are about to end need not wait for more.
    begun.Wait();
  }
  EXPECT_EQ(longest, first);
  EXPECT_NE(shortest, first);
}

TEST(TeamsTest, WhatWaitsMayBeMoreUrgentThanWhatIsKept) {
  std::vector<int> order;
  {
    Gate submitted;
    Teams teams(1, 1, kMoving);
    teams.Submit(0, [&] {
      submitted.Wait();
      teams.Submit(1, [&] { order.push_back(1); });
    });
    teams.Submit(2, [&] { order.push_back(2); });
    submitted.Open();
  }
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

// A tree of operations, each of which makes two others ready.
class Tree {
 public:
  explicit Tree(Teams* teams) : teams_(*teams) {}

  void Grow(int height) {
    teams_.Submit(height, [this, height] {
      ++num_done_;
      for (int i = 0; i < 2 && height > 0; ++i) Grow(height - 1);
    });
  }
  int num_done() const { return num_done_; }

 private:
  Teams& teams_;
  std::atomic<int> num_done_ = 0;
};

TEST(TeamsTest, RunAllThatIsMadeReadyAlsoAfterTheEnd) {
  constexpr int kHeight = 10;
  constexpr int kTrees = 4;
  auto teams = std::make_unique<Teams>(3, 1, kMoving);
  Tree tree(teams.get());
  RunInThreads(kTrees, [&](int /*thread*/) { tree.Grow(kHeight); });
  teams.reset();
  EXPECT_EQ(tree.num_done(), kTrees * ((2 << kHeight) - 1));
}

TEST(TeamsTest, MoreThanAWordOfTeams) {
  constexpr int kTeams = 70;
  std::atomic<int> num_running = 0;
  Gate all;
  {
    Teams teams(kTeams, 1, kMoving);
    for (int i = 0; i < kTeams; ++i) {
      teams.Submit(0, [&] {
        if (++num_running == kTeams) all.Open();
        all.Wait();
      });
    }
  }
  EXPECT_EQ(num_running, kTeams);
}

TEST(TeamsTest, HelpersAreOfTheTeamOfWhoAsks) {
  std::atomic<int> num_same = 0;
  constexpr int kParts = 8;
  {
    Teams teams(2, 2, /*pinned=*/true);
    for (int i = 0; i < 2; ++i) {
      teams.Submit(0, [&] {
        const int team = Teams::TeamOfThread();
        const std::thread::id leader = std::this_thread::get_id();
        std::atomic<int> num_left = kParts;
        Gate done;
        for (int part = 0; part < kParts; ++part) {
          Teams::Work work = [&, team] {
            num_same += Teams::TeamOfThread() == team &&
                        std::this_thread::get_id() != leader;
            if (--num_left == 0) done.Open();
          };
          ASSERT_TRUE(Teams::Help(&work));
        }
        done.Wait();
      });
    }
  }
  EXPECT_EQ(num_same, 2 * kParts);
}

TEST(TeamsTest, OthersAndTeamsOfOneThreadHaveNoHelpers) {
  std::atomic<bool> has_run = false;
  Teams::Work work = [&] { has_run = true; };
  EXPECT_FALSE(Teams::Help(&work));
  {
    Teams teams(1, 1, kMoving);
    teams.Submit(0, [&] { EXPECT_FALSE(Teams::Help(&work)); });
  }
  work();
  EXPECT_TRUE(has_run);
}

}  // namespace
}  // namespace recursive_tf
