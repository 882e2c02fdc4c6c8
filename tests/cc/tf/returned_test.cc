#include "recursive_tf/cc/tf/returned.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tests/cc/tf/tensors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;

// Floats [2], integers, and doubles; pushed are floats [3, 2], and integers.
Returned AReturned() {
  Returned returned;
  returned.subgraph = std::make_shared<const std::string>("tree");
  returned.push_names = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"h", "ids"});
  returned.outputs = {
      {tf::DT_FLOAT, {2}}, {tf::DT_INT32, {}}, {tf::DT_DOUBLE, {1}}};
  returned.tables = {{tf::DT_FLOAT, {3, 2}}, {tf::DT_INT64, {3}}};
  return returned;
}

tf::Tensor ADouble() { return VectorOf<double>({1}); }

TEST(ReturnedTest, FloatsAndComplexNumbersHaveGradients) {
  EXPECT_TRUE(CanHaveGradient({tf::DT_BFLOAT16, {}}));
  EXPECT_TRUE(CanHaveGradient({tf::DT_COMPLEX64, {}}));
  EXPECT_FALSE(CanHaveGradient({tf::DT_INT32, {}}));
  EXPECT_FALSE(CanHaveGradient({tf::DT_STRING, {}}));
}

TEST(ReturnedTest, AGradientIsLikeItsOutput) {
  EXPECT_TRUE(AReturned().CheckGradientOfOutput(0, OnesOf({2})).ok());
  EXPECT_TRUE(AReturned().CheckGradientOfOutput(2, ADouble()).ok());
}

TEST(ReturnedTest, AGradientOfAnotherShapeIsRefused) {
  const absl::Status status = AReturned().CheckGradientOfOutput(0, OnesOf({}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StartsWith(
      status.message(),
      "SubGraph 'tree': output 0 has the dtype float and the shape [2], but "
      "its gradient came with the dtype float and the shape []."));
}

TEST(ReturnedTest, AGradientOfAnotherDtypeIsRefused) {
  EXPECT_FALSE(AReturned().CheckGradientOfOutput(2, OnesOf({1})).ok());
}

TEST(ReturnedTest, AnIntegerHasNoGradient) {
  EXPECT_FALSE(AReturned().CheckGradientOfOutput(1, OnesOf({})).ok());
  EXPECT_FALSE(AReturned().CheckGradientOfTable(1, OnesOf({3})).ok());
}

TEST(ReturnedTest, WhatIsNotThereHasNoGradient) {
  EXPECT_TRUE(absl::StrContains(
      AReturned().CheckGradientOfOutput(3, OnesOf({})).message(),
      "SubGraph 'tree' got gradients of other outputs or tables"));
  EXPECT_FALSE(AReturned().CheckGradientOfTable(2, OnesOf({})).ok());
}

TEST(ReturnedTest, AGradientIsLikeItsTable) {
  EXPECT_TRUE(AReturned().CheckGradientOfTable(0, OnesOf({3, 2})).ok());
  EXPECT_TRUE(absl::StartsWith(
      AReturned().CheckGradientOfTable(0, OnesOf({2, 2})).message(),
      "SubGraph 'tree': the table of push 'h' has the dtype float"));
}

TEST(ReturnedTest, GradientsAreOfOutputsThatCanHaveOneInOrder) {
  const std::vector<tf::Tensor> of_tables = {OnesOf({3, 2}), OnesOf({})};
  const Returned returned = AReturned();
  EXPECT_TRUE(
      returned.CheckGradients({OnesOf({2}), ADouble()}, of_tables).ok());
  EXPECT_FALSE(
      returned.CheckGradients({ADouble(), OnesOf({2})}, of_tables).ok());
}

TEST(ReturnedTest, ThereAreAsManyGradientsAsWhatCanHaveOne) {
  const std::vector<tf::Tensor> of_outputs = {OnesOf({2}), ADouble()};
  const std::vector<tf::Tensor> of_tables = {OnesOf({3, 2}), OnesOf({})};
  const Returned returned = AReturned();
  EXPECT_FALSE(returned.CheckGradients({OnesOf({2})}, of_tables).ok());
  EXPECT_FALSE(
      returned.CheckGradients({OnesOf({2}), ADouble(), ADouble()}, of_tables)
          .ok());
  EXPECT_FALSE(returned.CheckGradients(of_outputs, {OnesOf({3, 2})}).ok());
}

TEST(ReturnedTest, TheGradientOfATableIsCheckedAmongAll) {
  EXPECT_FALSE(
      AReturned()
          .CheckGradients({OnesOf({2}), ADouble()}, {OnesOf({3}), OnesOf({})})
          .ok());
}

}  // namespace
}  // namespace recursive_tf
