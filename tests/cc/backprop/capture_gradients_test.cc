#include "recursive_tf/cc/backprop/capture_gradients.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

constexpr int kNumThreads = 8;

struct Outcome {
  bool ok() const { return !failed; }

  bool failed = false;
};

using IntGradients = CaptureGradients<int, Outcome>;
using Contributions = std::vector<IntGradients::Contribution>;

Outcome AddInts(const int& value, int* total) {
  *total += value;
  return {};
}

Outcome Refuse(const int& /*value*/, int* /*total*/) { return {true}; }

IntGradients Collected() {
  return IntGradients({IntGradients::Kind::kCollected}, AddInts);
}

IntGradients Summed() {
  return IntGradients({IntGradients::Kind::kSummed}, AddInts);
}

TEST(CollectedGradientsTest, EveryContributionIsKeptInTheOrderItCame) {
  IntGradients gradients = Collected();
  gradients.Add(0, {3, 30});
  gradients.Add(0, {1, 10});
  gradients.Add(0, {2, 20});
  EXPECT_EQ(gradients.Take(0), (Contributions{{3, 30}, {1, 10}, {2, 20}}));
}

TEST(CollectedGradientsTest, ContributionsMayDifferInLength) {
  IntGradients gradients = Collected();
  gradients.Add(0, {1});
  gradients.Add(0, {2, 3});
  EXPECT_EQ(gradients.Take(0), (Contributions{{1}, {2, 3}}));
}

TEST(SummedGradientsTest, ContributionsAreAddedElementByElement) {
  IntGradients gradients = Summed();
  gradients.Add(0, {1, 10});
  gradients.Add(0, {2, 20});
  gradients.Add(0, {3, 30});
  EXPECT_EQ(gradients.Take(0), (Contributions{{6, 60}}));
}

TEST(SummedGradientsTest, ASingleContributionIsItsOwnSum) {
  IntGradients gradients = Summed();
  gradients.Add(0, {7});
  EXPECT_EQ(gradients.Take(0), (Contributions{{7}}));
}

TEST(CaptureGradientsTest, ASlotThatNothingWasAddedToIsEmpty) {
  EXPECT_TRUE(Collected().Take(0).empty());
  EXPECT_TRUE(Summed().Take(0).empty());
}

TEST(CaptureGradientsTest, TakeEmptiesTheSlot) {
  IntGradients collected = Collected();
  collected.Add(0, {1});
  IntGradients summed = Summed();
  summed.Add(0, {1});
  EXPECT_EQ(collected.Take(0).size(), 1U);
  EXPECT_TRUE(collected.Take(0).empty());
  EXPECT_EQ(summed.Take(0).size(), 1U);
  EXPECT_TRUE(summed.Take(0).empty());
}

TEST(CaptureGradientsTest, SlotsDoNotMix) {
  IntGradients gradients(
      {IntGradients::Kind::kCollected, IntGradients::Kind::kSummed,
       IntGradients::Kind::kCollected},
      AddInts);
  EXPECT_EQ(gradients.num_slots(), 3U);
  for (const int value : {1, 2}) {
    for (size_t slot = 0; slot < 2; ++slot) gradients.Add(slot, {value});
  }
  EXPECT_EQ(gradients.Take(0), (Contributions{{1}, {2}}));
  EXPECT_EQ(gradients.Take(1), (Contributions{{3}}));
  EXPECT_TRUE(gradients.Take(2).empty());
}

using TracedGradients = CaptureGradients<TracedValue, Outcome>;

Outcome AddTraced(const TracedValue& value, TracedValue* total) {
  *total = TracedValue(total->id() + value.id());
  return {};
}

TEST(CaptureGradientsTest, CollectedContributionsLiveUntilTheyAreTaken) {
  TracedGradients gradients({TracedGradients::Kind::kCollected}, AddTraced);
  for (int i = 0; i < 10; ++i) gradients.Add(0, {TracedValue(i)});
  EXPECT_EQ(TracedValue::num_alive, 10);
  EXPECT_EQ(gradients.Take(0).size(), 10U);
  EXPECT_EQ(TracedValue::num_alive, 0);
}

TEST(CaptureGradientsTest, OfSummedContributionsOnlyTheSumStaysAlive) {
  TracedGradients gradients({TracedGradients::Kind::kSummed}, AddTraced);
  for (int i = 0; i < 10; ++i) {
    gradients.Add(0, {TracedValue(i)});
    EXPECT_EQ(TracedValue::num_alive, 1);
  }
  EXPECT_EQ(gradients.Take(0).front().front().id(), 45);
  EXPECT_EQ(TracedValue::num_alive, 0);
}

TEST(CaptureGradientsTest, WhatIsNeverTakenDiesWithItsOwner) {
  {
    TracedGradients gradients(
        {TracedGradients::Kind::kCollected, TracedGradients::Kind::kSummed},
        AddTraced);
    for (size_t slot = 0; slot < 2; ++slot) {
      gradients.Add(slot, {TracedValue(1)});
      gradients.Add(slot, {TracedValue(2)});
    }
    EXPECT_EQ(TracedValue::num_alive, 3);
  }
  EXPECT_EQ(TracedValue::num_alive, 0);
}

// Memory with one owner: it could not be passed on unless it were moved.
using Owned = std::unique_ptr<int>;
using OwnedGradients = CaptureGradients<Owned, Outcome>;

Outcome AddInPlace(const Owned& value, Owned* total) {
  **total += *value;
  return {};
}

OwnedGradients::Contribution One(Owned value) {
  OwnedGradients::Contribution contribution;
  contribution.push_back(std::move(value));
  return contribution;
}

TEST(SummedGradientsTest, WhoContributesIsToldThatItCannotBeAdded) {
  IntGradients gradients({IntGradients::Kind::kSummed}, Refuse);
  EXPECT_TRUE(gradients.Add(0, {1}).ok());
  EXPECT_FALSE(gradients.Add(0, {2}).ok());
}

TEST(SummedGradientsTest, TheAdderOwnsTheTotalAndMayAddInPlace) {
  OwnedGradients gradients({OwnedGradients::Kind::kSummed}, AddInPlace);
  auto first = std::make_unique<int>(1);
  const int* address = first.get();
  gradients.Add(0, One(std::move(first)));
  gradients.Add(0, One(std::make_unique<int>(2)));
  gradients.Add(0, One(std::make_unique<int>(3)));
  const auto taken = gradients.Take(0);
  EXPECT_EQ(taken.front().front().get(), address);
  EXPECT_EQ(*taken.front().front(), 6);
}

TEST(CaptureGradientsStressTest, EightThreadsCollectingLoseNothing) {
  constexpr int kAddsPerThread = 5000;
  IntGradients gradients = Collected();
  RunInThreads(kNumThreads, [&gradients](int thread) {
    for (int i = 0; i < kAddsPerThread; ++i) gradients.Add(0, {thread, i});
  });
  // Each thread's own contributions come in order: 0, 1, 2, ...
  std::array<int, kNumThreads> next = {};
  for (const IntGradients::Contribution& contribution : gradients.Take(0)) {
    EXPECT_EQ(contribution[1], next[contribution[0]]++);
  }
  for (const int num_seen : next) EXPECT_EQ(num_seen, kAddsPerThread);
}

TEST(CaptureGradientsStressTest, EightThreadsAddingUpLoseNothing) {
  constexpr int kAddsPerThread = 5000;
  constexpr int kNumSlots = 3;
  OwnedGradients gradients(std::vector<OwnedGradients::Kind>(
                               kNumSlots, OwnedGradients::Kind::kSummed),
                           AddInPlace);
  RunInThreads(kNumThreads, [&gradients](int thread) {
    for (int i = 0; i < kAddsPerThread * kNumSlots; ++i) {
      gradients.Add(i % kNumSlots, One(std::make_unique<int>(thread)));
    }
  });
  for (size_t slot = 0; slot < kNumSlots; ++slot) {
    // 0 + 1 + ... + 7 = 28.
    EXPECT_EQ(*gradients.Take(slot).front().front(), 28 * kAddsPerThread);
  }
}

}  // namespace
}  // namespace recursive_tf
