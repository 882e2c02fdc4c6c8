#include "recursive_tf/cc/blocks/team.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cc/blocks/parts.h"
#include "tests/cc/blocks/threads.h"

namespace recursive_tf {
namespace {

TEST(TeamTest, EveryPartRunsOnce) {
  for (int num_threads = 1; num_threads <= 4; ++num_threads) {
    Threads threads;
    Team team(num_threads, threads.schedule());
    for (int64_t num_parts = 0; num_parts <= 40; ++num_parts) {
      EXPECT_EQ(CountParts(&team, num_parts), std::vector<int>(num_parts, 1))
          << num_threads << " threads, " << num_parts << " parts";
    }
  }
}

TEST(TeamTest, ATeamHasALeaderAtLeast) {
  Functions kept;
  Team team(0, KeptIn(&kept));
  EXPECT_EQ(team.num_threads(), 1);
  EXPECT_EQ(CountParts(&team, 3), std::vector<int>(3, 1));
  team.Rest();
  EXPECT_TRUE(kept.empty());
}

TEST(TeamTest, AJobSeesWhatTheOneBeforeItWrote) {
  constexpr int kJobs = 5000;
  constexpr int64_t kParts = 7;
  Threads threads;
  Team team(3, threads.schedule());
  std::vector<int64_t> numbers(kParts, 0);
  std::vector<int64_t> sums(kParts, 0);
  for (int job = 0; job < kJobs; ++job) {
    team.Run(kParts, [&](int64_t part) { numbers[part] = job + part; });
    // Each part reads what all of the parts before it wrote.
    team.Run(kParts, [&](int64_t part) {
      sums[part] =
          std::accumulate(numbers.begin(), numbers.end(), int64_t{part});
    });
    for (int64_t part = 0; part < kParts; ++part) {
      ASSERT_EQ(sums[part], kParts * job + 21 + part) << "job " << job;
    }
  }
}

TEST(TeamTest, AMemberThatNeverStartsIsNotMissed) {
  Functions kept;
  Team team(4, KeptIn(&kept));
  for (int job = 0; job < 100; ++job) {
    EXPECT_EQ(CountParts(&team, 9), std::vector<int>(9, 1));
  }
  // It is asked for once, and not again before it has come and gone.
  EXPECT_EQ(kept.size(), 3U);
}

TEST(TeamTest, NoMoreMembersAreAskedForThanThereAreParts) {
  Functions kept;
  Team team(4, KeptIn(&kept));
  CountParts(&team, 1);
  EXPECT_EQ(kept.size(), 0U);
  CountParts(&team, 2);
  EXPECT_EQ(kept.size(), 1U);
  CountParts(&team, 8);
  EXPECT_EQ(kept.size(), 3U);
}

TEST(TeamTest, MembersThatAreAwakeAreNotAskedForAgain) {
  Functions kept;
  Team team(4, KeptIn(&kept));
  EXPECT_EQ(team.num_wanted(), 1);
  team.Wake(1);
  EXPECT_EQ(kept.size(), 0U);
  team.Wake(3);
  EXPECT_EQ(kept.size(), 2U);
  // There was no job for them yet.
  EXPECT_EQ(team.num_wanted(), 1);
  CountParts(&team, 3);
  EXPECT_EQ(kept.size(), 2U);
  EXPECT_EQ(team.num_wanted(), 3);
  CountParts(&team, 2);
  EXPECT_EQ(team.num_wanted(), 3);
  // Which begins a step.
  team.Wake(100);
  EXPECT_EQ(kept.size(), 3U);
  EXPECT_EQ(team.num_wanted(), 1);
  CountParts(&team, 2);
  EXPECT_EQ(team.num_wanted(), 2);
}

TEST(TeamTest, AMemberThatIsAwakeTakesPartInTheFirstJob) {
  Threads threads;
  Team team(2, threads.schedule());
  team.Wake(2);
  const std::thread::id leader = std::this_thread::get_id();
  std::atomic<bool> has_helped{false};
  team.Run(2, [&](int64_t) {
    if (std::this_thread::get_id() != leader) has_helped = true;
    while (!has_helped) std::this_thread::yield();
  });
  EXPECT_TRUE(has_helped);
}

TEST(TeamTest, WhoWorksAloneBeginsWithItsOwnParts) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  std::vector<int64_t> order;
  team.Run(7, [&](int64_t part) { order.push_back(part); });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 2, 4, 6, 1, 3, 5}));
}

TEST(TeamTest, AMemberThatStartsAfterTheTeamIsGoneTouchesNothing) {
  Functions kept;
  std::atomic<int> num_calls{0};
  {
    // The work is on the heap, so that a sanitizer sees who reads it later.
    const auto work = std::make_unique<std::vector<int>>(20, 0);
    Team team(3, KeptIn(&kept));
    team.Run(20, [&num_calls, numbers = work.get()](int64_t part) {
      ++(*numbers)[part];
      ++num_calls;
    });
  }
  ASSERT_EQ(kept.size(), 2U);
  for (const std::function<void()>& run : kept) run();
  EXPECT_EQ(num_calls, 20);
}

TEST(TeamTest, AMemberThatStartsAfterItsJobHelpsWithTheNext) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  CountParts(&team, 4);
  ASSERT_EQ(kept.size(), 1U);
  const std::thread::id leader = std::this_thread::get_id();
  std::atomic<bool> has_helped{false};
  std::thread late;
  team.Run(2, [&](int64_t) {
    if (std::this_thread::get_id() != leader) {
      has_helped = true;
      return;
    }
    late = std::thread(kept[0]);
    while (!has_helped) std::this_thread::yield();
  });
  late.join();
  EXPECT_EQ(kept.size(), 1U);
}

TEST(TeamTest, AJobEndsWhenAMemberHasEndedItsPart) {
  Threads threads;
  Team team(2, threads.schedule());
  const std::thread::id leader = std::this_thread::get_id();
  std::atomic<bool> has_begun{false};
  bool has_ended = false;
  team.Run(2, [&](int64_t) {
    if (std::this_thread::get_id() == leader) {
      while (!has_begun) std::this_thread::yield();
      return;
    }
    has_begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    has_ended = true;
  });
  EXPECT_TRUE(has_ended);
}

TEST(TeamTest, AScheduleMayRunAMemberAtOnce) {
  Team team(3, [](const std::function<void()>& run) { run(); });
  for (int job = 0; job < 5; ++job) {
    EXPECT_EQ(CountParts(&team, 10), std::vector<int>(10, 1));
  }
}

TEST(TeamTest, AMemberThatFindsNothingToDoGoesAndIsAskedForAgain) {
  Threads threads;
  Team team(3, threads.schedule());
  for (int job = 0; job < 3; ++job) {
    EXPECT_EQ(CountParts(&team, 10), std::vector<int>(10, 1));
    // Without this, the last job's members would be there.
    threads.Join();
  }
}

TEST(TeamTest, MembersThatRestGoBeforeTheyLoseTheirPatience) {
  using Clock = std::chrono::steady_clock;
  Functions kept;
  Team team(2, KeptIn(&kept));
  // The least of some times: other programs make them longer.
  const auto time_of_member = [&](bool rests) {
    Clock::duration least = Clock::duration::max();
    for (int i = 0; i < 10; ++i) {
      CountParts(&team, 2);
      if (rests) team.Rest();
      const Clock::time_point begin = Clock::now();
      kept.back()();
      least = std::min(least, Clock::now() - begin);
    }
    return least;
  };
  EXPECT_LT(5 * time_of_member(/*rests=*/true),
            time_of_member(/*rests=*/false));
  // Each had gone when the next job asked for it.
  EXPECT_EQ(kept.size(), 20U);
}

// Returns what a job throws, whose parts from `first` on throw their number.
std::string FailureOf(Team* team, int64_t num_parts, int64_t first) {
  try {
    team->Run(num_parts, [first](int64_t part) {
      if (part >= first) throw std::runtime_error(std::to_string(part));
    });
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(TeamTest, WhatAPartThrowsItsLeaderThrows) {
  for (int num_threads = 1; num_threads <= 4; ++num_threads) {
    Threads threads;
    Team team(num_threads, threads.schedule());
    for (int64_t part = 0; part < 9; ++part) {
      // Of the last part alone, whoever runs it.
      EXPECT_EQ(FailureOf(&team, part + 1, part), std::to_string(part));
    }
  }
}

TEST(TeamTest, WhatAPartThrowsOnAMembersThreadTheLeaderThrows) {
  Threads threads;
  Team team(2, threads.schedule());
  const std::thread::id leader = std::this_thread::get_id();
  std::atomic<bool> has_begun{false};
  const auto run = [&] {
    team.Run(2, [&](int64_t) {
      if (std::this_thread::get_id() == leader) {
        while (!has_begun) std::this_thread::yield();
        return;
      }
      has_begun = true;
      throw std::bad_alloc();
    });
  };
  EXPECT_THROW(run(), std::bad_alloc);
}

TEST(TeamTest, OfSeveralPartsThatThrowOneIsThrown) {
  Threads threads;
  Team team(4, threads.schedule());
  for (int job = 0; job < 200; ++job) {
    const int64_t part = std::stoll(FailureOf(&team, 40, 20));
    EXPECT_GE(part, 20);
    EXPECT_LT(part, 40);
  }
}

TEST(TeamTest, AllOtherPartsEndBeforeWhatOneThrewIsThrown) {
  Threads threads;
  Team team(3, threads.schedule());
  for (int job = 0; job < 200; ++job) {
    std::vector<int> counts(30, 0);
    EXPECT_THROW(team.Run(30,
                          [&](int64_t part) {
                            if (part == 7) throw std::bad_alloc();
                            ++counts[part];
                          }),
                 std::bad_alloc);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), 29);
  }
}

TEST(TeamTest, AJobAfterOneThatThrewIsLikeAnyOther) {
  Threads threads;
  Team team(3, threads.schedule());
  for (int job = 0; job < 50; ++job) {
    EXPECT_EQ(FailureOf(&team, 12, 11), "11");
    EXPECT_EQ(CountParts(&team, 12), std::vector<int>(12, 1));
  }
}

TEST(TeamTest, AMemberThatCannotBeAskedForIsNotMissed) {
  int num_asked = 0;
  Team team(3, [&num_asked](const std::function<void()>&) {
    ++num_asked;
    throw std::bad_alloc();
  });
  EXPECT_EQ(CountParts(&team, 10), std::vector<int>(10, 1));
  // Nor is another one then; the next job tries again.
  EXPECT_EQ(num_asked, 1);
  EXPECT_EQ(CountParts(&team, 10), std::vector<int>(10, 1));
  EXPECT_EQ(num_asked, 2);
}

TEST(TeamTest, TheLeaderDoesSomethingElseOnceBeforeItsParts) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  std::vector<int64_t> order;
  const Team::Meanwhile meanwhile(&team, [&] { order.push_back(-1); });
  for (int job = 0; job < 2; ++job) {
    team.Run(2, [&](int64_t part) { order.push_back(part); });
  }
  EXPECT_EQ(order, (std::vector<int64_t>{-1, 0, 1, 0, 1}));
}

TEST(TeamTest, MembersWorkWhileTheLeaderDoesSomethingElse) {
  Threads threads;
  Team team(2, threads.schedule());
  std::atomic<bool> has_begun{false};
  const Team::Meanwhile meanwhile(&team, [&] {
    while (!has_begun) std::this_thread::yield();
  });
  team.Run(2, [&](int64_t) { has_begun = true; });
  EXPECT_TRUE(has_begun);
}

TEST(TeamTest, WhoSharesNothingDoesNothingElse) {
  Functions kept;
  Team team(2, KeptIn(&kept));
  bool is_done = false;
  {
    const Team::Meanwhile meanwhile(&team, [&] { is_done = true; });
    team.Run(1, [](int64_t) {});
    EXPECT_FALSE(is_done);
  }
  team.Run(2, [](int64_t) {});
  EXPECT_FALSE(is_done);
}

TEST(TeamTest, WhatIsThrownMeanwhileIsThrownWhenAllPartsHaveEnded) {
  Threads threads;
  Team team(2, threads.schedule());
  std::atomic<int> num_ended{0};
  const Team::Meanwhile meanwhile(
      &team, [] { throw std::runtime_error("meanwhile"); });
  EXPECT_THROW(team.Run(8, [&](int64_t) { ++num_ended; }), std::runtime_error);
  EXPECT_EQ(num_ended, 8);
}

TEST(TeamTest, ManyTeamsWorkAtOnce) {
  constexpr int kTeams = 6;
  std::atomic<int> num_right{0};
  std::vector<std::thread> leaders;
  for (int i = 0; i < kTeams; ++i) {
    leaders.emplace_back([&num_right] {
      Threads threads;
      Team team(4, threads.schedule());
      bool is_right = true;
      for (int job = 0; job < 200; ++job) {
        is_right &= CountParts(&team, 13) == std::vector<int>(13, 1);
        if (job % 50 == 0) team.Rest();
      }
      num_right += is_right ? 1 : 0;
    });
  }
  for (std::thread& leader : leaders) leader.join();
  EXPECT_EQ(num_right, kTeams);
}

}  // namespace
}  // namespace recursive_tf
