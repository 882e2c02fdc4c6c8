#include "recursive_tf/cc/base/faults.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

using Kind = Faults::Kind;

TEST(FaultsTest, NothingStrikesUntilATestPlantsIt) {
  Faults faults;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(faults.Strikes(Kind::kLaunch));
}

TEST(FaultsTest, TheNthOfItsKindStrikesAndNoOther) {
  Faults faults;
  faults.Plant(Kind::kLaunch, 3);
  std::vector<bool> found;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(faults.Strikes(Kind::kGradient));
    found.push_back(faults.Strikes(Kind::kLaunch));
  }
  EXPECT_EQ(found, (std::vector<bool>{false, false, true, false, false}));
  EXPECT_EQ(faults.Clear(), 5);
  EXPECT_FALSE(faults.Strikes(Kind::kLaunch));
}

TEST(FaultsTest, OfNoneTheyAreOnlyCountedAndEachPlantBeginsAnew) {
  Faults faults;
  for (int64_t number = 0; number < 3; ++number) {
    faults.Plant(Kind::kCachePut, 0);
    for (int64_t i = 0; i < number; ++i) {
      EXPECT_FALSE(faults.Strikes(Kind::kCachePut));
    }
    EXPECT_EQ(faults.Clear(), number);
  }
}

TEST(FaultsTest, OfManyThreadsOneIsStruck) {
  constexpr int kThreads = 8;
  constexpr int kTimes = 1000;
  Faults faults;
  faults.Plant(Kind::kAllocation, kThreads * kTimes / 2);
  std::atomic<int> num_struck = 0;
  RunInThreads(kThreads, [&](int /*thread*/) {
    for (int i = 0; i < kTimes; ++i) {
      num_struck += faults.Strikes(Kind::kAllocation) ? 1 : 0;
    }
  });
  EXPECT_EQ(num_struck, 1);
  EXPECT_EQ(faults.Clear(), kThreads * kTimes);
}

}  // namespace
}  // namespace recursive_tf
