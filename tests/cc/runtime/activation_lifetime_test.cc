// What an ActivationTree allocates and when it frees it, in exact numbers.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "recursive_tf/cc/runtime/activation.h"
#include "recursive_tf/cc/runtime/activation_tree.h"
#include "recursive_tf/cc/testing/threads.h"

namespace {

// The blocks that this program has allocated with `new` and not yet deleted.
std::atomic<int> num_blocks = 0;

void* AllocateCounted(size_t size) {
  void* block = std::malloc(size);
  if (block != nullptr) ++num_blocks;
  return block;
}

void FreeCounted(void* block) {
  if (block != nullptr) --num_blocks;
  std::free(block);
}

}  // namespace

// Every form that an uncounted one could be freed by: sanitizers bring their
// own, which do not call each other.
void* operator new(size_t size) {
  void* block = AllocateCounted(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return AllocateCounted(size);
}
void operator delete(void* block) noexcept { FreeCounted(block); }
void operator delete(void* block, size_t /*size*/) noexcept {
  FreeCounted(block);
}
void operator delete(void* block, const std::nothrow_t& /*tag*/) noexcept {
  FreeCounted(block);
}

namespace recursive_tf {
namespace {

Activation* Enter(ActivationTree* tree, const Activation* parent) {
  Activation* entered;
  const Invocation invocation{parent, /*procedure=*/0, /*site=*/1,
                              /*ordinal=*/0};
  EXPECT_EQ(tree->Enter(invocation, &entered),
            ActivationTree::Verdict::kEntered);
  return entered;
}

TEST(ActivationLifetimeTest, LeaveFreesAtOnce) {
  ActivationTree tree({}, /*keep=*/false);
  const int num_before = num_blocks;
  Activation* root = Enter(&tree, nullptr);
  Activation* child = Enter(&tree, root);
  EXPECT_EQ(num_blocks, num_before + 2);
  tree.Leave(child);
  EXPECT_EQ(num_blocks, num_before + 1);
  tree.Leave(root);
  EXPECT_EQ(num_blocks, num_before);
}

TEST(ActivationLifetimeTest, LeaveFreesNothingThatIsKept) {
  ActivationTree tree({}, /*keep=*/true);
  const int num_before = num_blocks;
  tree.Leave(Enter(&tree, nullptr));
  EXPECT_EQ(num_blocks, num_before + 1);
}

TEST(ActivationLifetimeTest, KeptActivationsDieWithTheTree) {
  const int num_before = num_blocks;
  {
    ActivationTree tree({}, /*keep=*/true);
    const Activation* last = nullptr;
    for (int i = 0; i < 1000; ++i) last = Enter(&tree, last);
    EXPECT_EQ(num_blocks, num_before + 1000);
  }
  EXPECT_EQ(num_blocks, num_before);
}

TEST(ActivationLifetimeTest, KeptActivationsDieWithTheTreeThoughNeverLeft) {
  const int num_before = num_blocks;
  {
    ActivationTree tree({}, /*keep=*/true);
    tree.Leave(Enter(&tree, nullptr));
    Enter(&tree, nullptr);
  }
  EXPECT_EQ(num_blocks, num_before);
}

TEST(ActivationLifetimeTest, ARefusedInvocationAllocatesNothing) {
  ActivationTree tree({/*max_depth=*/1, /*max_activations=*/1}, /*keep=*/true);
  const Activation* root = Enter(&tree, nullptr);
  const int num_before = num_blocks;
  Activation* refused;
  EXPECT_EQ(tree.Enter({root, 0, 1, 0}, &refused),
            ActivationTree::Verdict::kTooDeep);
  EXPECT_EQ(tree.Enter({nullptr, 0, 1, 0}, &refused),
            ActivationTree::Verdict::kTooMany);
  EXPECT_EQ(num_blocks, num_before);
}

TEST(ActivationLifetimeStressTest, WhatEightThreadsKeepDiesWithTheTree) {
  const int num_before = num_blocks;
  {
    ActivationTree tree({}, /*keep=*/true);
    RunInThreads(8, [&tree](int) {
      const Activation* last = nullptr;
      for (int i = 0; i < 5000; ++i) last = Enter(&tree, last);
    });
    EXPECT_EQ(tree.num_alive(), 8 * 5000);
  }
  EXPECT_EQ(num_blocks, num_before);
}

}  // namespace
}  // namespace recursive_tf
