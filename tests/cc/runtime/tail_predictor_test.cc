#include "recursive_tf/cc/runtime/tail_predictor.h"

#include <chrono>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

constexpr std::chrono::nanoseconds kLong = TailPredictor::kShort * 2;
constexpr int kEnough = TailPredictor::kEnough;

// One that knows nothing, whatever tests before have taught its counter.
TailPredictor MakePredictor() {
  TailPredictor predictor;
  predictor.Learn(kLong);
  return predictor;
}

void LearnShort(TailPredictor predictor, int times) {
  for (int i = 0; i < times; ++i) predictor.Learn(TailPredictor::kShort);
}

TEST(TailPredictorTest, IsNotShortBeforeEnoughWereShort) {
  const TailPredictor predictor = MakePredictor();
  for (int i = 0; i < kEnough; ++i) {
    EXPECT_FALSE(predictor.IsShort());
    LearnShort(predictor, 1);
  }
  EXPECT_TRUE(predictor.IsShort());
}

TEST(TailPredictorTest, ForgetsAllAtOneLongTail) {
  const TailPredictor predictor = MakePredictor();
  LearnShort(predictor, 1000);
  predictor.Learn(kLong);
  EXPECT_FALSE(predictor.IsShort());
  LearnShort(predictor, kEnough - 1);
  EXPECT_FALSE(predictor.IsShort());
  LearnShort(predictor, 1);
  EXPECT_TRUE(predictor.IsShort());
}

TEST(TailPredictorTest, IsNeverShortWhereShortAndLongTailsTakeTurns) {
  const TailPredictor predictor = MakePredictor();
  for (int i = 0; i < 100; ++i) {
    LearnShort(predictor, kEnough - 1);
    EXPECT_FALSE(predictor.IsShort());
    predictor.Learn(kLong);
  }
}

TEST(TailPredictorTest, LearnsOneByOne) {
  const TailPredictor predictor = MakePredictor();
  const TailPredictor other = MakePredictor();
  LearnShort(predictor, kEnough);
  EXPECT_FALSE(other.IsShort());
}

TEST(TailPredictorTest, ACopyIsTheSamePredictor) {
  const TailPredictor predictor = MakePredictor();
  LearnShort(TailPredictor(predictor), kEnough);
  EXPECT_TRUE(predictor.IsShort());
}

TEST(TailPredictorTest, OnesThatWereMadeFarApartShareWhatTheyLearn) {
  const TailPredictor predictor = MakePredictor();
  const std::vector<TailPredictor> between(TailPredictor::kEntries - 1);
  const TailPredictor next;
  LearnShort(predictor, kEnough);
  EXPECT_TRUE(next.IsShort());
}

TEST(TailPredictorStressTest, EveryThreadLearnsForItself) {
  const TailPredictor predictor = MakePredictor();
  RunInThreads(8, [&](int thread) {
    for (int i = 0; i < 1000; ++i) {
      LearnShort(predictor, kEnough);
      if (thread == 0) predictor.Learn(kLong);
      EXPECT_EQ(predictor.IsShort(), thread != 0);
    }
  });
  EXPECT_FALSE(predictor.IsShort());
}

}  // namespace
}  // namespace recursive_tf
