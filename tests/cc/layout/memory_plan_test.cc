#include "recursive_tf/cc/layout/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/layout/operand_batch.h"

namespace recursive_tf {
namespace {

using Order = std::vector<int32_t>;

Order UpTo(int32_t size) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

int32_t Below(int32_t n, std::mt19937* rng) {
  return std::uniform_int_distribution<int32_t>(0, n - 1)(*rng);
}

// What a view is, said in another way than the planner does: what stands at one
// place of two operands is equally far from what stands at the first place.
bool AreViews(const Order& order, const Operand& first, const Operand& other) {
  Order place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int32_t>(i);
  }
  Order sorted;
  for (size_t i = 0; i < other.size(); ++i) {
    const int32_t far = place[other[i]] - place[other[0]];
    if (far != place[first[i]] - place[first[0]]) return false;
    sorted.push_back(place[other[i]]);
  }
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] != sorted[i - 1] + 1) return false;
  }
  return true;
}

bool AllAreViews(const Order& order, const std::vector<OperandBatch>& batches) {
  for (const OperandBatch& batch : batches) {
    for (const Operand& operand : batch) {
      if (!AreViews(order, batch[0], operand)) return false;
    }
  }
  return true;
}

bool CanAllBeViews(int32_t num_variables,
                   const std::vector<OperandBatch>& batches) {
  Order order = UpTo(num_variables);
  do {
    if (AllAreViews(order, batches)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

void CheckClaims(const MemoryPlan& plan,
                 const std::vector<OperandBatch>& batches) {
  Order sorted = plan.order;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted, UpTo(static_cast<int32_t>(sorted.size())));
  for (size_t batch = 0; batch < batches.size(); ++batch) {
    const Operand* first = nullptr;
    for (size_t i = 0; i < batches[batch].size(); ++i) {
      if (!plan.is_view[batch][i]) continue;
      if (first == nullptr) first = &batches[batch][i];
      ASSERT_TRUE(AreViews(plan.order, *first, batches[batch][i]));
    }
  }
}

int64_t NumIdeal(const MemoryPlan& plan) {
  int64_t count = 0;
  for (size_t batch = 0; batch < plan.is_view.size(); ++batch) {
    count += plan.IsIdeal(static_cast<int32_t>(batch)) ? 1 : 0;
  }
  return count;
}

// Chen et al. 2023, figures 3 and 4, where variables are counted from 1.
TEST(MemoryPlanTest, ThePapersExample) {
  const std::vector<OperandBatch> batches = {{{3, 4}, {0, 2}, {1, 0}},
                                             {{7, 5, 6}, {2, 3, 4}}};
  const MemoryPlan plan = PlanMemory(8, batches);
  EXPECT_TRUE(plan.IsIdeal(0));
  EXPECT_TRUE(plan.IsIdeal(1));
  EXPECT_TRUE(AllAreViews(plan.order, batches));
}

TEST(MemoryPlanTest, WithoutBatchesVariablesKeepTheirOrder) {
  EXPECT_EQ(PlanMemory(1, {}).order, Order({0}));
  EXPECT_EQ(PlanMemory(4, {}).order, Order({0, 1, 2, 3}));
}

TEST(MemoryPlanTest, AnOperandWithAVariableTwiceIsNoView) {
  const MemoryPlan plan = PlanMemory(5, {{{0, 1, 2}, {3, 3, 4}, {1, 0, 2}}});
  EXPECT_EQ(plan.is_view[0], std::vector<bool>({true, false, false}));
  const MemoryPlan second = PlanMemory(5, {{{3, 3}, {2, 0}, {4, 1}}});
  EXPECT_EQ(second.is_view[0], std::vector<bool>({false, true, true}));
}

TEST(MemoryPlanTest, OneOfTwoOrdersOfTheSameVariablesIsAView) {
  const MemoryPlan plan = PlanMemory(4, {{{0, 1, 2}, {1, 0, 2}}, {{3}, {0}}});
  EXPECT_EQ(plan.is_view[0], std::vector<bool>({true, false}));
  EXPECT_TRUE(plan.IsIdeal(1));
}

// With random batches mostly there is no order that is ideal.
TEST(MemoryPlanTest, FindsAnIdealOrderWhereverABruteForceSearchDoes) {
  std::mt19937 rng(0);
  int num_ideal = 0;
  int num_others = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int32_t num_variables = trial < 20 ? 8 : 4 + Below(3, &rng);
    std::vector<OperandBatch> batches(1 + Below(3, &rng));
    for (OperandBatch& batch : batches) {
      const int32_t length = 2 + Below(num_variables / 2, &rng);
      batch.resize(1 + Below(3, &rng));
      for (Operand& operand : batch) {
        operand = UpTo(num_variables);
        std::shuffle(operand.begin(), operand.end(), rng);
        operand.resize(length);
      }
    }
    const MemoryPlan plan = PlanMemory(num_variables, batches);
    CheckClaims(plan, batches);
    const bool is_ideal = AllAreViews(plan.order, batches);
    ASSERT_EQ(NumIdeal(plan) == static_cast<int64_t>(batches.size()), is_ideal);
    ASSERT_EQ(CanAllBeViews(num_variables, batches), is_ideal) << trial;
    ++(is_ideal ? num_ideal : num_others);
  }
  EXPECT_GT(num_ideal, 300);
  EXPECT_GT(num_others, 300);
}

// Batches that a hidden order is ideal for.
std::vector<OperandBatch> HiddenBatches(const Order& hidden, int32_t most,
                                        std::mt19937* rng) {
  std::vector<OperandBatch> batches(hidden.size() / 2);
  for (OperandBatch& batch : batches) {
    const int32_t length = 1 + Below(most, rng);
    Order order = UpTo(length);
    std::shuffle(order.begin(), order.end(), *rng);
    batch.resize(1 + Below(3, rng));
    for (Operand& operand : batch) {
      const int32_t start =
          Below(static_cast<int32_t>(hidden.size()) - length + 1, rng);
      for (const int32_t i : order) operand.push_back(hidden[start + i]);
    }
  }
  return batches;
}

TEST(MemoryPlanTest, FindsAHiddenIdealOrder) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 rng(seed);
    Order hidden = UpTo(10 + Below(100, &rng));
    std::shuffle(hidden.begin(), hidden.end(), rng);
    const std::vector<OperandBatch> batches =
        HiddenBatches(hidden, 2 + Below(8, &rng), &rng);
    const MemoryPlan plan =
        PlanMemory(static_cast<int32_t>(hidden.size()), batches);
    CheckClaims(plan, batches);
    ASSERT_EQ(NumIdeal(plan), batches.size()) << seed;
  }
}

// A batch for each step of chains of several lengths: what it writes, and what
// it reads of the step before.
std::vector<OperandBatch> Chains(int32_t num_chains, std::mt19937* rng,
                                 int32_t* num_variables) {
  std::vector<OperandBatch> batches;
  *num_variables = 0;
  std::vector<int32_t> states(num_chains);
  for (int32_t& state : states) state = (*num_variables)++;
  batches.push_back({states});
  while (!states.empty()) {
    states.resize(states.size() - Below(3, rng) % states.size());
    std::shuffle(states.begin(), states.end(), *rng);
    OperandBatch& batch = batches.emplace_back();
    batch.resize(2);
    batch[1] = states;
    for (int32_t& state : states) state = (*num_variables)++;
    batch[0] = states;
    if (states.size() == 1) break;
  }
  return batches;
}

TEST(MemoryPlanTest, StatesOfChainsAreReadInOrder) {
  for (const int32_t num_chains : {2, 32, 300}) {
    std::mt19937 rng(num_chains);
    int32_t num_variables = 0;
    const auto batches = Chains(num_chains, &rng, &num_variables);
    const MemoryPlan plan = PlanMemory(num_variables, batches);
    EXPECT_EQ(NumIdeal(plan), batches.size());
  }
}

// A batch for each height of random binary trees: what it writes, and what it
// reads of left and of right children.
std::vector<OperandBatch> Trees(int32_t num_leaves, std::mt19937* rng) {
  struct Tree {
    int32_t node;
    size_t height;
  };
  std::vector<Tree> trees;
  std::vector<OperandBatch> batches = {{{}}};
  for (int32_t leaf = 0; leaf < num_leaves; ++leaf) {
    trees.push_back({leaf, 0});
    batches[0][0].push_back(leaf);
  }
  int32_t next = num_leaves;
  // Many trees of some twenty leaves.
  while (static_cast<int32_t>(trees.size()) > num_leaves / 20) {
    const Tree left = trees[Below(static_cast<int32_t>(trees.size()), rng)];
    const auto i = static_cast<size_t>(Below(num_leaves, rng)) % trees.size();
    const Tree right = trees[i];
    if (left.node == right.node) continue;
    const size_t height = 1 + std::max(left.height, right.height);
    if (batches.size() <= height) batches.resize(height + 1, OperandBatch(3));
    batches[height][0].push_back(next);
    batches[height][1].push_back(left.node);
    batches[height][2].push_back(right.node);
    trees[i] = {next++, height};
    trees.erase(std::find_if(trees.begin(), trees.end(), [&](const Tree& tree) {
      return tree.node == left.node;
    }));
  }
  return batches;
}

TEST(MemoryPlanTest, NothingFalseIsSaidOfTrees) {
  for (const int32_t num_leaves : {40, 400, 4000}) {
    std::mt19937 rng(num_leaves);
    const std::vector<OperandBatch> batches = Trees(num_leaves, &rng);
    const MemoryPlan plan = PlanMemory(2 * num_leaves, batches);
    CheckClaims(plan, batches);
    for (const std::vector<bool>& is_view : plan.is_view) {
      EXPECT_TRUE(is_view[0]);  // What a batch writes, always.
    }
  }
}

TEST(MemoryPlanTest, StepsAreAlmostLinearInTheSizeOfTheOperands) {
  const auto steps_of = [](int32_t num_variables,
                           const std::vector<OperandBatch>& batches) {
    size_t size = 0;
    for (const OperandBatch& batch : batches) {
      for (const Operand& operand : batch) size += operand.size();
    }
    const int64_t steps = PlanMemory(num_variables, batches).num_steps;
    return static_cast<double>(steps) / static_cast<double>(size);
  };
  for (const int32_t size : {300, 3000, 30000}) {
    std::mt19937 rng(size);
    Order hidden = UpTo(size);
    std::shuffle(hidden.begin(), hidden.end(), rng);
    EXPECT_LT(steps_of(size, HiddenBatches(hidden, 8, &rng)), 60);
    EXPECT_LT(steps_of(2 * size, Trees(size, &rng)), 60);
  }
}

}  // namespace
}  // namespace recursive_tf
