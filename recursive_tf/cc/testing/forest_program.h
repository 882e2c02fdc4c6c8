#ifndef RECURSIVE_TF_CC_TESTING_FOREST_PROGRAM_H_
#define RECURSIVE_TF_CC_TESTING_FOREST_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

namespace recursive_tf {

// A random forest: a node is a leaf, or one of two kinds of inner nodes.
struct Forest {
  enum Kind : int8_t { kLeaf, kSum, kProduct };

  std::vector<Kind> kind;
  std::vector<int64_t> left, right, roots;
};

inline Forest MakeForest(int num_trees, int max_leaves, uint32_t seed) {
  std::mt19937 random(seed);
  Forest forest;
  for (int tree = 0; tree < num_trees; ++tree) {
    std::vector<int64_t> tops(1 + random() % max_leaves);
    for (int64_t& leaf : tops) {
      leaf = static_cast<int64_t>(forest.kind.size());
      forest.kind.push_back(Forest::kLeaf);
      forest.left.push_back(-1);
      forest.right.push_back(-1);
    }
    while (tops.size() > 1) {
      std::swap(tops[random() % tops.size()], tops.back());
      const int64_t left = tops.back();
      tops.pop_back();
      const size_t at = random() % tops.size();
      forest.kind.push_back(random() % 2 == 0 ? Forest::kSum
                                              : Forest::kProduct);
      forest.left.push_back(left);
      forest.right.push_back(tops[at]);
      tops[at] = static_cast<int64_t>(forest.kind.size()) - 1;
    }
    forest.roots.push_back(tops.front());
  }
  return forest;
}

constexpr int64_t kModulus = 1000003;

inline int64_t Evaluate(const Forest& forest, int64_t node) {
  if (forest.kind[node] == Forest::kLeaf) return node + 2;
  const int64_t left = Evaluate(forest, forest.left[node]);
  const int64_t right = Evaluate(forest, forest.right[node]);
  return forest.kind[node] == Forest::kSum ? (left + 3 * right) % kModulus
                                           : (left * right + 1) % kModulus;
}

enum TreeProcedure : uint8_t { kTree, kLeafOfTree, kSumOfTree, kProductOfTree };

// Looks at a node, takes its branch, and perhaps pushes what comes of it.
inline PlannedProcedure LookAtNode(bool pushes) {
  PlannedProcedure tree;
  tree.num_arguments = 1;
  tree.num_slots = 5;  // node, kind, left, right, result
  Stage look = Compute(0, {S(0)}, 1, 3);
  look.calls = {
      CallSite{0,
               S(1),
               {Branch{kLeafOfTree, {S(0)}}, Branch{kSumOfTree, {S(2), S(3)}},
                Branch{kProductOfTree, {S(2), S(3)}}},
               4}};
  tree.stages = {look};
  if (pushes) {
    Stage push;
    push.pushes = {PlannedPush{0, S(0), S(4)}};
    tree.stages.push_back(push);
  }
  tree.outputs = {S(4)};
  return tree;
}

// A tree as a recursion over its nodes, with the blocks
//   0: node -> kind, left, right      1: node -> value of a leaf
//   2: left, right -> their sum       3: left, right -> their product
inline IntegerProgram ForestProgram(const Forest* forest, bool pushes = false) {
  IntegerProgram program;
  program.plan.num_blocks = 4;
  program.plan.procedures = {LookAtNode(pushes), LeafOfTree(/*block=*/1),
                             InnerOfTree(/*block=*/2, kTree),
                             InnerOfTree(/*block=*/3, kTree, /*first_site=*/2)};
  program.blocks = {
      [forest](const Column& in) {
        return Column{forest->kind[in[0]], forest->left[in[0]],
                      forest->right[in[0]]};
      },
      [](const Column& in) { return Column{in[0] + 2}; },
      [](const Column& in) { return Column{(in[0] + 3 * in[1]) % kModulus}; },
      [](const Column& in) { return Column{(in[0] * in[1] + 1) % kModulus}; },
  };
  return program;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_FOREST_PROGRAM_H_
