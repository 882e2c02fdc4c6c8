#include "recursive_tf/cc/runtime/activation_tree.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/testing/threads.h"

namespace recursive_tf {
namespace {

using Verdict = ActivationTree::Verdict;

constexpr int kNumThreads = 8;
constexpr ActivationLimits kNoLimits;

ActivationLimits MaxDepth(int64_t max_depth) {
  return {max_depth, /*max_activations=*/0};
}

ActivationLimits MaxActivations(int64_t max_activations) {
  return {/*max_depth=*/0, max_activations};
}

ActivationLimits MaxBytes(int64_t max_bytes) {
  return {/*max_depth=*/0, /*max_activations=*/0, max_bytes};
}

Invocation CallBy(const Activation* parent) {
  return {parent, /*procedure=*/0, /*site=*/1, /*ordinal=*/0};
}

// Returns the new activation, or null if a limit is reached.
Activation* Enter(ActivationTree* tree, const Activation* parent) {
  Activation* entered;
  const Verdict verdict = tree->Enter(CallBy(parent), &entered);
  EXPECT_EQ(verdict == Verdict::kEntered, entered != nullptr);
  return entered;
}

// Returns the last of `num_activations`, each of which calls the next.
Activation* EnterChain(ActivationTree* tree, int num_activations) {
  Activation* last = nullptr;
  for (int i = 0; i < num_activations; ++i) last = Enter(tree, last);
  return last;
}

TEST(ActivationTreeTest, AnActivationKnowsItsInvocation) {
  ActivationTree tree(kNoLimits, /*keep=*/true);
  const Activation* parent = Enter(&tree, nullptr);
  Activation* child;
  const Invocation invocation{parent, /*procedure=*/5, /*site=*/6,
                              /*ordinal=*/7};
  ASSERT_EQ(tree.Enter(invocation, &child), Verdict::kEntered);
  EXPECT_EQ(child->parent, parent);
  EXPECT_EQ(child->procedure, 5);
  EXPECT_EQ(child->site, 6);
  EXPECT_EQ(child->ordinal, 7);
}

TEST(ActivationTreeTest, DepthCountsFromOne) {
  ActivationTree tree(kNoLimits, /*keep=*/true);
  const Activation* root = Enter(&tree, nullptr);
  EXPECT_EQ(root->depth, 1);
  EXPECT_EQ(Enter(&tree, root)->depth, 2);
  EXPECT_EQ(Enter(&tree, root)->depth, 2);
}

TEST(ActivationTreeTest, TheDeepestLevelAllowedIsEnteredAndTheNextRefused) {
  ActivationTree tree(MaxDepth(3), /*keep=*/true);
  const Activation* deepest = EnterChain(&tree, 3);
  Activation* refused;
  EXPECT_EQ(tree.Enter(CallBy(deepest), &refused), Verdict::kTooDeep);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(tree.num_alive(), 3);
}

TEST(ActivationTreeTest, ALimitOfDepthDoesNotLimitSiblings) {
  ActivationTree tree(MaxDepth(1), /*keep=*/true);
  for (int i = 0; i < 10; ++i) EXPECT_NE(Enter(&tree, nullptr), nullptr);
}

TEST(ActivationTreeTest, OneActivationTooManyIsRefused) {
  ActivationTree tree(MaxActivations(3), /*keep=*/false);
  std::array<Activation*, 3> entered;
  for (Activation*& activation : entered) activation = Enter(&tree, nullptr);
  Activation* refused;
  EXPECT_EQ(tree.Enter(CallBy(nullptr), &refused), Verdict::kTooMany);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(tree.num_alive(), 3);
  for (Activation* activation : entered) tree.Leave(activation);
}

TEST(ActivationTreeTest, ARefusalForDepthComesBeforeOneForNumber) {
  ActivationTree tree({/*max_depth=*/1, /*max_activations=*/1}, /*keep=*/true);
  const Activation* root = Enter(&tree, nullptr);
  Activation* refused;
  EXPECT_EQ(tree.Enter(CallBy(root), &refused), Verdict::kTooDeep);
  EXPECT_EQ(tree.Enter(CallBy(nullptr), &refused), Verdict::kTooMany);
}

constexpr int64_t kKilobyte = 1024;

// Enters a call of the root that holds a kilobyte.
Verdict EnterKilobyte(ActivationTree* tree, Activation** entered) {
  return tree->Enter(CallBy(nullptr), entered, kKilobyte);
}

TEST(ActivationTreeTest, CallsMayHoldTheLastByteAllowedAndNoMore) {
  ActivationTree tree(MaxBytes(3 * kKilobyte), /*keep=*/true);
  Activation* entered;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(EnterKilobyte(&tree, &entered), Verdict::kEntered);
  }
  EXPECT_EQ(EnterKilobyte(&tree, &entered), Verdict::kTooLarge);
  EXPECT_EQ(entered, nullptr);
  EXPECT_EQ(tree.num_alive(), 3);
  EXPECT_EQ(tree.num_bytes(), 3 * kKilobyte);
}

TEST(ActivationTreeTest, WithoutALimitOfBytesAnythingIsHeld) {
  ActivationTree tree(MaxBytes(0), /*keep=*/true);
  Activation* entered;
  EXPECT_EQ(tree.Enter(CallBy(nullptr), &entered, int64_t{1'000'000'000'000}),
            Verdict::kEntered);
}

TEST(ActivationTreeTest, WhatIsHeldBesideCallsCounts) {
  ActivationTree tree(MaxBytes(2 * kKilobyte), /*keep=*/true);
  Activation* entered;
  tree.Hold(kKilobyte + 1);
  EXPECT_EQ(EnterKilobyte(&tree, &entered), Verdict::kTooLarge);
  tree.Hold(-1);
  EXPECT_EQ(EnterKilobyte(&tree, &entered), Verdict::kEntered);
}

TEST(ActivationTreeTest, WhatACallHeldIsFreeAfterItIsLeft) {
  for (const bool keep : {false, true}) {
    ActivationTree tree(MaxBytes(kKilobyte), keep);
    for (int i = 0; i < 10; ++i) {
      Activation* entered;
      ASSERT_EQ(EnterKilobyte(&tree, &entered), Verdict::kEntered);
      tree.Leave(entered, kKilobyte);
    }
    EXPECT_EQ(tree.num_bytes(), 0);
  }
}

TEST(ActivationTreeTest, ARefusalForBytesComesBeforeOneForNumber) {
  ActivationTree tree({/*max_depth=*/0, /*max_activations=*/1, /*max_bytes=*/1},
                      /*keep=*/true);
  Activation* entered;
  EXPECT_EQ(tree.Enter(CallBy(nullptr), &entered), Verdict::kEntered);
  EXPECT_EQ(EnterKilobyte(&tree, &entered), Verdict::kTooLarge);
  EXPECT_EQ(tree.Enter(CallBy(nullptr), &entered), Verdict::kTooMany);
}

TEST(ActivationTreeTest, APartOfAnInvocationHoldsNothing) {
  ActivationTree tree(MaxBytes(kKilobyte), /*keep=*/true);
  Activation* front;
  Activation* body;
  ASSERT_EQ(EnterKilobyte(&tree, &front), Verdict::kEntered);
  const Invocation part{front, /*procedure=*/1, kSharedSite, /*ordinal=*/0};
  EXPECT_EQ(tree.Enter(part, &body, kKilobyte), Verdict::kEntered);
  EXPECT_EQ(tree.num_bytes(), kKilobyte);
  tree.Leave(body, kKilobyte);
  EXPECT_EQ(tree.num_bytes(), kKilobyte);
}

TEST(ActivationTreeTest, LeavingMakesRoomForAnother) {
  ActivationTree tree(MaxActivations(1), /*keep=*/false);
  for (int i = 0; i < 10; ++i) {
    Activation* activation = Enter(&tree, nullptr);
    ASSERT_NE(activation, nullptr);
    tree.Leave(activation);
  }
  EXPECT_EQ(tree.num_alive(), 0);
}

TEST(ActivationTreeTest, LeavingMakesNoRoomWhereActivationsAreKept) {
  ActivationTree tree(MaxActivations(1), /*keep=*/true);
  tree.Leave(Enter(&tree, nullptr));
  EXPECT_EQ(tree.num_alive(), 1);
  EXPECT_EQ(Enter(&tree, nullptr), nullptr);
}

TEST(ActivationTreeTest, AKeptActivationIsReadableAfterItIsLeft) {
  ActivationTree tree(kNoLimits, /*keep=*/true);
  Activation* root = Enter(&tree, nullptr);
  Activation* child = Enter(&tree, root);
  tree.Leave(child);
  tree.Leave(root);
  EXPECT_EQ(child->parent, root);
  EXPECT_EQ(child->parent->parent, nullptr);
}

TEST(ActivationTreeTest, IdsAreNeverZeroAndNeverUsedAgain) {
  ActivationTree tree(kNoLimits, /*keep=*/false);
  uint64_t last_id = 0;
  for (int i = 0; i < 100; ++i) {
    Activation* activation = Enter(&tree, nullptr);
    EXPECT_GT(activation->id, last_id);
    last_id = activation->id;
    tree.Leave(activation);
  }
}

TEST(ActivationTreeTest, TellsWhatItWasMadeWith) {
  const ActivationTree tree({/*max_depth=*/3, /*max_activations=*/4},
                            /*keep=*/true);
  EXPECT_EQ(tree.limits().max_depth, 3);
  EXPECT_EQ(tree.limits().max_activations, 4);
  EXPECT_TRUE(tree.keeps());
}

TEST(ActivationTreeTest, AKeptChainOfAMillionDiesWithoutRecursion) {
  constexpr int kNumActivations = 1000000;
  ActivationTree tree(kNoLimits, /*keep=*/true);
  EXPECT_EQ(EnterChain(&tree, kNumActivations)->depth, kNumActivations);
}

// The ids of the activations that each thread entered.
using IdsByThread = std::array<std::vector<uint64_t>, kNumThreads>;

std::vector<uint64_t> Sorted(const IdsByThread& ids_by_thread) {
  std::vector<uint64_t> ids;
  for (const std::vector<uint64_t>& of_thread : ids_by_thread) {
    ids.insert(ids.end(), of_thread.begin(), of_thread.end());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

TEST(ActivationTreeStressTest, EightThreadsNeverGetTheSameId) {
  constexpr int kEntersPerThread = 20000;
  for (const bool keep : {false, true}) {
    ActivationTree tree(kNoLimits, keep);
    IdsByThread ids_by_thread;
    RunInThreads(kNumThreads, [&](int thread) {
      for (int i = 0; i < kEntersPerThread; ++i) {
        Activation* activation = Enter(&tree, nullptr);
        ids_by_thread[thread].push_back(activation->id);
        tree.Leave(activation);
      }
    });
    const std::vector<uint64_t> ids = Sorted(ids_by_thread);
    EXPECT_EQ(ids.size(), size_t{kNumThreads} * kEntersPerThread);
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
  }
}

TEST(ActivationTreeStressTest, EightThreadsFillTheTreeExactlyToItsLimit) {
  constexpr int kLimit = 1000;
  ActivationTree tree(MaxActivations(kLimit), /*keep=*/true);
  std::atomic<int> num_entered = 0;
  RunInThreads(kNumThreads, [&](int) {
    while (Enter(&tree, nullptr) != nullptr) ++num_entered;
  });
  EXPECT_EQ(num_entered, kLimit);
  EXPECT_EQ(tree.num_alive(), kLimit);
}

// Enters a binary tree of `levels` below `parent`, and leaves it.
void EnterAndLeaveSubtree(ActivationTree* tree, const Activation* parent,
                          int levels) {
  if (levels == 0) return;
  Activation* activation = Enter(tree, parent);
  EXPECT_EQ(activation->depth, parent->depth + 1);
  EnterAndLeaveSubtree(tree, activation, levels - 1);
  EnterAndLeaveSubtree(tree, activation, levels - 1);
  tree->Leave(activation);
}

TEST(ActivationTreeStressTest, EightThreadsBelowOneParentLeaveNothingAlive) {
  constexpr int kLevels = 10;
  ActivationTree tree(kNoLimits, /*keep=*/false);
  Activation* parent = Enter(&tree, nullptr);
  RunInThreads(kNumThreads,
               [&](int) { EnterAndLeaveSubtree(&tree, parent, kLevels); });
  EXPECT_EQ(tree.num_alive(), 1);
  tree.Leave(parent);
  EXPECT_EQ(tree.num_alive(), 0);
}

TEST(ActivationTreeStressTest, EightThreadsBelowOneParentKeepAll) {
  constexpr int kLevels = 10;
  constexpr int kActivationsPerThread = 1023;  // 2^10 - 1.
  ActivationTree tree(kNoLimits, /*keep=*/true);
  Activation* parent = Enter(&tree, nullptr);
  RunInThreads(kNumThreads,
               [&](int) { EnterAndLeaveSubtree(&tree, parent, kLevels); });
  EXPECT_EQ(tree.num_alive(), 1 + (kNumThreads * kActivationsPerThread));
}

TEST(ActivationTreeTest, APartOfAnInvocationIsNoOtherOne) {
  ActivationTree tree({/*max_depth=*/1, /*max_activations=*/1}, /*keep=*/false);
  Activation* front = nullptr;
  Activation* body = nullptr;
  EXPECT_EQ(tree.Enter({nullptr, 0, kRootSite, 0}, &front),
            ActivationTree::Verdict::kEntered);
  EXPECT_EQ(tree.Enter({front, 1, kSharedSite, 0}, &body),
            ActivationTree::Verdict::kEntered);
  EXPECT_EQ(body->depth, 1);
  EXPECT_EQ(tree.num_alive(), 1);
  tree.Leave(body);
  EXPECT_EQ(tree.num_alive(), 1);
  tree.Leave(front);
  EXPECT_EQ(tree.num_alive(), 0);
}

}  // namespace
}  // namespace recursive_tf
