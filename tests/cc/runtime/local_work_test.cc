#include "recursive_tf/cc/runtime/local_work.h"

#include <functional>
#include <memory>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/tail_predictor.h"
#include "recursive_tf/cc/testing/threads.h"
#include "recursive_tf/cc/testing/traced_value.h"

namespace recursive_tf {
namespace {

using Work = LocalWork::Work;

// Leaves `work` where a test expects that nobody else has to run anything.
void LeaveAlone(Work work) {
  EXPECT_EQ(LocalWork::Leave(std::move(work)), nullptr);
}

TEST(LocalWorkTest, WhatIsLeftRunsAfterThePieceThatLeftIt) {
  std::vector<int> order;
  LocalWork::Run([&] {
    LeaveAlone([&] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(LocalWorkTest, OutsideOfARunItIsHandedBack) {
  bool ran = false;
  const Work back = LocalWork::Leave([&] { ran = true; });
  ASSERT_NE(back, nullptr);
  EXPECT_FALSE(ran);
  back();
  EXPECT_TRUE(ran);
}

TEST(LocalWorkTest, TheOlderOfTwoPiecesIsHandedBackAndTheNewerRuns) {
  std::vector<int> order;
  Work shared;
  LocalWork::Run([&] {
    LeaveAlone([&] { order.push_back(1); });
    shared = LocalWork::Leave([&] { order.push_back(2); });
  });
  EXPECT_EQ(order, (std::vector<int>{2}));
  shared();
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
}

TEST(LocalWorkTest, AChainOfAMillionPiecesNeedsNoStack) {
  int left = 1000000;
  std::function<void()> piece = [&] {
    if (--left > 0) LeaveAlone(piece);
  };
  LocalWork::Run(piece);
  EXPECT_EQ(left, 0);
}

// As a thread pool does that is full.
TEST(LocalWorkTest, ARunWithinARunIsLeftForTheOuterOne) {
  std::vector<int> order;
  LocalWork::Run([&] {
    LocalWork::Run([&] { order.push_back(3); });
    LeaveAlone([&] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(LocalWorkTest, OfWhatAFullPoolGivesBackTheNewestRunsFirst) {
  std::vector<int> order;
  LocalWork::Run([&] {
    for (int i = 0; i < 3; ++i) {
      LocalWork::Run([&, i] { order.push_back(i); });
    }
  });
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
}

TEST(LocalWorkTest, AFullPoolDoesNotNestAMillionRuns) {
  int left = 1000000;
  std::function<void()> piece = [&] {
    if (--left > 0) LocalWork::Run(piece);
  };
  LocalWork::Run(piece);
  EXPECT_EQ(left, 0);
}

TEST(LocalWorkTest, WorkThatMayBeWaitedForRunsAtOnceAsDeepAsAllowed) {
  constexpr int kNesting = 3;
  std::vector<int> order;
  std::function<void(int)> dive = [&](int level) {
    if (level < 6) {
      LocalWork::Run([&dive, level] { dive(level + 1); }, kNesting);
    }
    order.push_back(level);
  };
  LocalWork::Run([&] { dive(0); }, kNesting);
  // Level 3 is the third within the first; what it leaves waits for all.
  EXPECT_EQ(order, (std::vector<int>{3, 2, 1, 0, 6, 5, 4}));
}

TEST(LocalWorkTest, ANestedRunKeepsToWhatItLeftItself) {
  std::vector<int> order;
  LocalWork::Run([&] {
    LeaveAlone([&] { order.push_back(3); });
    LocalWork::Run(
        [&] {
          LeaveAlone([&] { order.push_back(2); });
          order.push_back(1);
        },
        /*nesting=*/1);
  });
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(LocalWorkTest, KnowsTheTypeOfThePieceThatRuns) {
  EXPECT_EQ(LocalWork::TypeOfPiece(), nullptr);
  const std::type_info* seen = nullptr;
  const auto piece = [&seen] { seen = LocalWork::TypeOfPiece(); };
  LocalWork::Run(piece);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(*seen, typeid(piece));
  EXPECT_EQ(LocalWork::TypeOfPiece(), nullptr);
}

TEST(LocalWorkTest, APieceDiesBeforeTheNextButOneRuns) {
  std::vector<int> alive;
  LocalWork::Run([&, one = std::make_shared<TracedValue>(1)] {
    LeaveAlone([&, two = std::make_shared<TracedValue>(2)] {
      LeaveAlone([&] { alive.push_back(TracedValue::num_alive); });
    });
  });
  EXPECT_EQ(alive, (std::vector<int>{0}));
  EXPECT_EQ(TracedValue::num_alive, 0);
}

// Runs pieces whose tail is `piece` until `predictor` says what is expected, or
// so many that something else must be wrong than a busy machine.
bool Learns(TailPredictor predictor, bool is_short,
            const std::function<void()>& piece) {
  constexpr int kPieces = 10000;
  for (int i = 0; i < kPieces && predictor.IsShort() != is_short; ++i) {
    LocalWork::Run(piece);
  }
  return predictor.IsShort() == is_short;
}

void WaitLong() { std::this_thread::sleep_for(2 * TailPredictor::kShort); }

TEST(LocalWorkTest, MeasuresFromSchedulingToTheEndOfThePiece) {
  TailPredictor predictor;
  EXPECT_TRUE(Learns(predictor, true, [&] {
    WaitLong();
    LocalWork::MeasureTail(predictor);
  }));
  EXPECT_TRUE(Learns(predictor, false, [&] {
    LocalWork::MeasureTail(predictor);
    WaitLong();
  }));
}

TEST(LocalWorkTest, MeasuresToTheNextSchedulingOfThePiece) {
  TailPredictor predictor;
  TailPredictor next;
  EXPECT_TRUE(Learns(predictor, true, [&] {
    LocalWork::MeasureTail(predictor);
    LocalWork::MeasureTail(next);
    WaitLong();
  }));
  EXPECT_FALSE(next.IsShort());
}

TEST(LocalWorkTest, DoesNotMeasureThePieceThatComesNext) {
  TailPredictor predictor;
  EXPECT_TRUE(Learns(predictor, true, [&] {
    LocalWork::MeasureTail(predictor);
    LeaveAlone(WaitLong);
  }));
}

TEST(LocalWorkTest, OutsideOfARunThereIsNothingToMeasure) {
  TailPredictor predictor;
  LocalWork::MeasureTail(predictor);
  WaitLong();
  EXPECT_TRUE(
      Learns(predictor, true, [&] { LocalWork::MeasureTail(predictor); }));
}

TEST(LocalWorkTest, AScopeHoldsOnItsThreadUntilItEnds) {
  EXPECT_FALSE(LocalWork::InScope());
  {
    const LocalWork::Scope outer;
    EXPECT_TRUE(LocalWork::InScope());
    {
      const LocalWork::Scope inner;
    }
    EXPECT_TRUE(LocalWork::InScope());
    bool elsewhere = true;
    std::thread([&] { elsewhere = LocalWork::InScope(); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(LocalWork::InScope());
}

TEST(LocalWorkTest, WhatIsLeftDoesNotRunInTheScopeItWasLeftIn) {
  bool in_scope = true;
  LocalWork::Run([&] {
    const LocalWork::Scope scope;
    LeaveAlone([&] { in_scope = LocalWork::InScope(); });
  });
  EXPECT_FALSE(in_scope);
}

TEST(LocalWorkStressTest, ThreadsDoNotSeeEachOthersWork) {
  RunInThreads(8, [](int thread) {
    std::vector<int> order;
    for (int i = 0; i < 1000; ++i) {
      LocalWork::Run([&] { LeaveAlone([&] { order.push_back(thread); }); });
    }
    EXPECT_EQ(order, std::vector<int>(1000, thread));
  });
}

}  // namespace
}  // namespace recursive_tf
