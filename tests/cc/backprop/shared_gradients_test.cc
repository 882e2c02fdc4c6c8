#include "recursive_tf/cc/backprop/shared_gradients.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

struct Outcome {
  bool ok() const { return !failed; }

  bool failed = false;
};

using Sums = SharedGradients<int, double, Outcome>;

Outcome Add(const double& value, double* total) {
  *total += value;
  return {};
}

Outcome Refuse(const double& /*value*/, double* /*total*/) { return {true}; }

TEST(SharedGradientsTest, TellsWhoContributesThatItCannotBeAdded) {
  Sums sums(&Refuse);
  const int one = 0;
  EXPECT_TRUE(sums.Add(&one, {1}).ok());
  EXPECT_FALSE(sums.Add(&one, {2}).ok());
}

TEST(SharedGradientsTest, AddsUpWhatConsumersContribute) {
  Sums sums(&Add);
  const int one = 0;
  const int other = 0;
  sums.Add(&one, {1, 2});
  sums.Add(&other, {5});
  sums.Add(&one, {10, 20});
  EXPECT_EQ(sums.Take(&one), (std::vector<double>{11, 22}));
  EXPECT_EQ(sums.Take(&other), std::vector<double>{5});
}

TEST(SharedGradientsTest, GivesNothingTwice) {
  Sums sums(&Add);
  const int one = 0;
  EXPECT_EQ(sums.Take(&one), std::nullopt);
  sums.Add(&one, {1});
  EXPECT_TRUE(sums.Take(&one).has_value());
  EXPECT_EQ(sums.Take(&one), std::nullopt);
}

TEST(SharedGradientsTest, WhatHasNoDifferentiableResultIsReachedAllTheSame) {
  Sums sums(&Add);
  const int one = 0;
  sums.Add(&one, {});
  EXPECT_EQ(sums.Take(&one), std::vector<double>{});
}

TEST(SharedGradientsTest, TakesContributionsOfManyThreads) {
  Sums sums(&Add);
  const int one = 0;
  RunInThreads(8, [&](int) {
    for (int i = 0; i < 1000; ++i) sums.Add(&one, {1});
  });
  EXPECT_EQ(sums.Take(&one), std::vector<double>{8000});
}

}  // namespace
}  // namespace recursive_tf
