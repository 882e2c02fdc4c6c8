#include <cstddef>
#include <functional>
#include <new>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/blocks/team.h"
#include "tests/cc/blocks/parts.h"

namespace recursive_tf {
namespace {

TEST(TeamGuestsTest, AGuestTakesPartsOfAJobAndGoes) {
  Functions members;
  int num_guests = 0;
  const Team::Schedule at_once = [&](const std::function<void()>& run) {
    ++num_guests;
    run();
  };
  Team team(2, KeptIn(&members), at_once);
  // All parts are its own, as it runs before the leader does.
  EXPECT_EQ(CountParts(&team, 5), std::vector<int>(5, 1));
  EXPECT_EQ(num_guests, 1);
  ASSERT_EQ(members.size(), 1);
  // Guests come with members, and this one was asked already.
  EXPECT_EQ(CountParts(&team, 5), std::vector<int>(5, 1));
  EXPECT_EQ(num_guests, 1);
}

TEST(TeamGuestsTest, AllMembersAreAskedBeforeAGuest) {
  Functions members;
  size_t num_members = 0;
  Team team(4, KeptIn(&members), [&](const std::function<void()>& run) {
    if (num_members == 0) num_members = members.size();
    run();
  });
  EXPECT_EQ(CountParts(&team, 7), std::vector<int>(7, 1));
  EXPECT_EQ(num_members, 3);
}

TEST(TeamGuestsTest, AGuestThatComesLateTouchesNothing) {
  Functions guests;
  {
    Functions members;
    Team team(3, KeptIn(&members), KeptIn(&guests));
    EXPECT_EQ(CountParts(&team, 5), std::vector<int>(5, 1));
  }
  ASSERT_EQ(guests.size(), 2);
  for (const std::function<void()>& run : guests) run();
}

TEST(TeamGuestsTest, AGuestThatCannotBeAskedForIsNotMissed) {
  Functions members;
  Team team(2, KeptIn(&members),
            [](const std::function<void()>&) { throw std::bad_alloc(); });
  EXPECT_EQ(CountParts(&team, 5), std::vector<int>(5, 1));
  EXPECT_EQ(members.size(), 1);
  EXPECT_EQ(CountParts(&team, 5), std::vector<int>(5, 1));
  EXPECT_EQ(members.size(), 1);
}

}  // namespace
}  // namespace recursive_tf
