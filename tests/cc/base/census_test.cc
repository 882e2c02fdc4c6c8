#include "recursive_tf/cc/base/census.h"

#include <cstdint>
#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "recursive_tf/cc/backprop/backprop_cache.h"
#include "recursive_tf/cc/runtime/activation_tree.h"

namespace recursive_tf {
namespace {

using Kind = Census::Kind;

class CensusTest : public testing::Test {
 protected:
  void SetUp() override { Census::Global().set_is_on(true); }
  void TearDown() override { Census::Global().set_is_on(false); }

  static int64_t Count(Kind kind) { return Census::Global().Count(kind); }
};

TEST_F(CensusTest, OneIsCountedWhileItLives) {
  std::optional<Census::One> one(Kind::kRuns);
  EXPECT_EQ(Count(Kind::kRuns), 1);
  one.reset();
  EXPECT_EQ(Count(Kind::kRuns), 0);
}

TEST_F(CensusTest, WhatBeganBeforeItWasOnIsNeverCounted) {
  Census::Global().set_is_on(false);
  std::optional<Census::One> before(Kind::kCalls);
  Census::Global().set_is_on(true);
  const Census::One after(Kind::kCalls);
  EXPECT_EQ(Count(Kind::kCalls), 1);
  before.reset();
  EXPECT_EQ(Count(Kind::kCalls), 1);
}

TEST_F(CensusTest, ActivationsAreCountedUntilTheyAreLeftOrTheirTreeDies) {
  for (const bool keeps : {false, true}) {
    auto tree = std::make_unique<ActivationTree>(ActivationLimits(), keeps);
    Activation* entered = nullptr;
    ASSERT_EQ(tree->Enter({nullptr, 0, kRootSite, 0}, &entered),
              ActivationTree::Verdict::kEntered);
    EXPECT_EQ(Count(Kind::kActivations), 1);
    tree->Leave(entered);
    EXPECT_EQ(Count(Kind::kActivations), keeps ? 1 : 0);
    tree.reset();
    EXPECT_EQ(Count(Kind::kActivations), 0);
  }
}

TEST_F(CensusTest, AnActivationThatIsNeverLeftIsNotForgotten) {
  ActivationTree tree(ActivationLimits(), /*keep=*/false);
  Activation* entered = nullptr;
  (void)tree.Enter({nullptr, 0, kRootSite, 0}, &entered);
  EXPECT_EQ(Count(Kind::kActivations), 1);
  tree.Leave(entered);
}

TEST_F(CensusTest, EntriesOfACacheAreCountedUntilItDies) {
  auto cache = std::make_unique<BackpropCache<int>>();
  Activation activation;
  activation.id = 1;
  for (int32_t region = 0; region < 3; ++region) {
    ASSERT_TRUE(cache->Put(CacheKey::Of(activation, region), {1, 2}));
  }
  EXPECT_FALSE(cache->Put(CacheKey::Of(activation, 0), {3}));
  EXPECT_EQ(Count(Kind::kCacheEntries), 3);
  cache.reset();
  EXPECT_EQ(Count(Kind::kCacheEntries), 0);
}

}  // namespace
}  // namespace recursive_tf
