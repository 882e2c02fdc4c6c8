#include "recursive_tf/cc/batching/reverse_replay.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "recursive_tf/cc/batching/gradient_plan.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/tape.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"
#include "tests/cc/batching/integer_backend.h"

namespace recursive_tf {
namespace {

using Replay = ReverseReplay<Column, IntegerBackend>;

struct Tree {
  std::vector<int64_t> left, right, word;  // Children are -1 at a leaf.
  std::vector<int64_t> roots;
};

Tree MakeTrees(int num_trees, int num_leaves, uint32_t seed) {
  std::mt19937 random(seed);
  Tree tree;
  const auto add = [&tree](int64_t left, int64_t right, int64_t word) {
    tree.left.push_back(left);
    tree.right.push_back(right);
    tree.word.push_back(word);
    return static_cast<int64_t>(tree.word.size()) - 1;
  };
  for (int i = 0; i < num_trees; ++i) {
    std::vector<int64_t> open;
    open.reserve(num_leaves);
    for (int k = 0; k < num_leaves; ++k) {
      open.push_back(add(-1, -1, 1 + static_cast<int64_t>(random() % 3)));
    }
    while (open.size() > 1) {
      const size_t at = random() % (open.size() - 1);
      open[at] = add(open[at], open[at + 1], 0);
      open.erase(open.begin() + static_cast<int64_t>(at) + 1);
    }
    tree.roots.push_back(open.front());
  }
  return tree;
}

constexpr int64_t kWeight = 2;
// Numbers are those modulo this: products of many leaves stay small.
constexpr int64_t kModulus = 1000003;

int64_t Combined(int64_t left, int64_t right) {
  return (left * right + 3 * right) % kModulus;
}

// The program is value(leaf) = w * word, value(inner) = left * right + 3 *
// right, pushed as row `node` of a table. Its blocks are
//   0: node -> is inner, left, right, word     1: word -> w * word
//   2: left, right -> left * right + 3 * right
// and its procedures
enum : uint8_t { kTree, kLeaf, kInner };

PlannedProcedure TreeProcedure() {
  PlannedProcedure tree;
  tree.num_arguments = 1;
  tree.num_slots = 6;  // node, is inner, left, right, word, value
  Stage look = Compute(0, {S(0)}, 1, 4);
  look.calls = {CallSite{
      0, S(1), {Branch{kLeaf, {S(4)}}, Branch{kInner, {S(2), S(3)}}}, 5}};
  Stage push;
  push.pushes = {PlannedPush{0, S(0), S(5)}};
  tree.stages = {look, push};
  tree.outputs = {S(5)};
  return tree;
}

IntegerProgram Program(const Tree* tree) {
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures = {TreeProcedure(), LeafOfTree(/*block=*/1),
                             InnerOfTree(/*block=*/2, kTree)};
  program.blocks = {
      [tree](const Column& in) {
        const int64_t left = tree->left[in[0]];
        return Column{left >= 0, left, tree->right[in[0]], tree->word[in[0]]};
      },
      [](const Column& in) { return Column{kWeight * in[0]}; },
      [](const Column& in) { return Column{Combined(in[0], in[1])}; },
  };
  return program;
}

// Of the weight in block 1 all is deferred. Block 2 has no weight.
GradientPlan Gradients() {
  GradientPlan plan(3);
  plan[1].has_deferred = true;
  plan[1].cotangents = {0};
  plan[1].deferred = {Replayed{Replayed::Kind::kKept, 0},
                      Replayed{Replayed::Kind::kCotangent, 0}};
  plan[2].has_backward = true;
  plan[2].tape = {0, 1};
  plan[2].cotangents = {0};
  plan[2].input_gradients = {0, 1};
  return plan;
}

// A run of the program on the roots of random trees.
class RunOfTrees {
 public:
  RunOfTrees(int num_trees, int num_leaves, uint32_t seed,
             const std::string& policy = "agenda")
      : tree_(MakeTrees(num_trees, num_leaves, seed)),
        program_(Program(&tree_)),
        run_(&program_, policy) {
    run_.Run({tree_.roots}, num_trees);
  }

  const Tree& tree() const { return tree_; }
  const Tape<Column>& tape() const { return run_.tape(); }

  // Returns what differentiates its blocks.
  IntegerBackend Backend() const {
    IntegerBackend backend;
    backend.num_rows = &run_.tape().num_rows;
    backend.tape = &run_.tape();
    backend.backward[2] = [](const Column& in) {
      return Column{in[2] * in[1] % kModulus, in[2] * (in[0] + 3) % kModulus};
    };
    backend.deferred[1] = [](const Column& in) { return in[0] * in[1]; };
    return backend;
  }

 private:
  const Tree tree_;
  const IntegerProgram program_;
  IntegerRun run_;
};

int64_t ValueOf(const Tree& tree, int64_t node) {
  if (tree.left[node] < 0) return kWeight * tree.word[node];
  return Combined(ValueOf(tree, tree.left[node]),
                  ValueOf(tree, tree.right[node]));
}

// The gradient by the weight where `dy` is that of a node's value and `pushed`
// that of each row of the table.
int64_t GradientOf(const Tree& tree, int64_t node, int64_t dy,
                   const Column& pushed) {
  dy += pushed[node];
  if (tree.left[node] < 0) return dy * tree.word[node];
  const int64_t left = ValueOf(tree, tree.left[node]);
  const int64_t right = ValueOf(tree, tree.right[node]);
  return GradientOf(tree, tree.left[node], dy * right % kModulus, pushed) +
         GradientOf(tree, tree.right[node], dy * (left + 3) % kModulus, pushed);
}

TEST(ReverseReplayTest, DifferentiatesThousandsOfRandomForests) {
  const GradientPlan gradients = Gradients();
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const auto size = static_cast<int>(seed);
    const int num_rows = 1 + size % 9;
    const RunOfTrees run(num_rows, 1 + size % 11, seed,
                         seed % 2 == 0 ? "agenda" : "depth");
    const Tree& tree = run.tree();
    IntegerBackend backend = run.Backend();
    Replay replay(&gradients, &run.tape(), &backend);
    Column dy;
    Column pushed;
    for (int32_t i = 0; i < num_rows; ++i) dy.push_back(1 + i % 3);
    for (size_t i = 0; i < tree.word.size(); ++i) {
      pushed.push_back(static_cast<int64_t>(i % 4));
    }
    replay.AddResult(0, dy);
    replay.AddPushed(0, pushed);
    ASSERT_TRUE(replay.Run());

    int64_t expected = 0;
    for (int32_t i = 0; i < num_rows; ++i) {
      expected += GradientOf(tree, tree.roots[i], dy[i], pushed);
    }
    ASSERT_EQ(backend.sums[1] % kModulus, expected % kModulus) << seed;
    ASSERT_EQ(backend.num_deferred, 1U);
  }
}

TEST(ReverseReplayTest,
     WhatIsDeferredRunsBeforeItTakesMoreThanAShareOfTheTape) {
  const RunOfTrees run(40, 30, /*seed=*/5, "depth");
  // Inner nodes are launched level by level.
  GradientPlan gradients = Gradients();
  gradients[2].has_deferred = true;
  gradients[2].deferred.assign(5, Replayed{Replayed::Kind::kCotangent, 0});
  std::vector<int64_t> sums;
  std::vector<size_t> runs;
  for (const int64_t bytes : {8, 1'000'000}) {
    IntegerBackend backend = run.Backend();
    backend.bytes_of_a_row = bytes;
    backend.deferred[2] = [](const Column& in) { return in[0]; };
    Replay replay(&gradients, &run.tape(), &backend);
    replay.AddResult(0, Column(40, 1));
    replay.AddPushed(0, Column(run.tree().word.size(), 2));
    ASSERT_TRUE(replay.Run());
    sums.push_back(backend.sums[2]);
    runs.push_back(backend.num_deferred);
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_EQ(runs[0], 2U);
  EXPECT_GT(runs[1], 3U);
}

TEST(ReverseReplayTest, HoldsTheTapeAndWhatWaits) {
  const RunOfTrees run(4, 30, /*seed=*/5);
  IntegerBackend backend = run.Backend();
  const GradientPlan gradients = Gradients();
  int64_t kept = 0;
  for (const TapedLaunch<Column>& launch : run.tape().launches) {
    for (const Column& rows : launch.kept) kept += backend.NumBytes(rows);
  }
  Replay replay(&gradients, &run.tape(), &backend);
  replay.AddResult(0, Column(4, 1));
  ASSERT_TRUE(replay.Run());
  for (const int64_t held : backend.bytes_held) EXPECT_GE(held, kept);
  // The first launch takes the cotangents of the roots at least.
  EXPECT_GE(backend.bytes_held.front(), kept + backend.bytes_of_a_row);
  // In the end nothing waits, but gradients of words, which nobody takes.
  EXPECT_EQ(backend.bytes_held.back(), kept + backend.bytes_of_a_row * 4 * 30);
}

TEST(ReverseReplayTest, LeavesOutWhatNoGradientReaches) {
  const RunOfTrees run(3, 4, /*seed=*/1);
  IntegerBackend backend = run.Backend();
  const GradientPlan gradients = Gradients();
  Replay replay(&gradients, &run.tape(), &backend);
  ASSERT_TRUE(replay.Run());
  EXPECT_EQ(backend.num_backward_rows[2], 0U);
  EXPECT_EQ(backend.sums[1], 0);
}

TEST(ReverseReplayTest, ARunMayBeReplayedTwice) {
  const RunOfTrees run(2, 5, /*seed=*/3);
  const GradientPlan gradients = Gradients();
  std::vector<int64_t> found;
  for (int i = 0; i < 2; ++i) {
    IntegerBackend backend = run.Backend();
    Replay replay(&gradients, &run.tape(), &backend);
    replay.AddResult(0, {1, 1});
    ASSERT_TRUE(replay.Run());
    found.push_back(backend.sums[1]);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_NE(found[0], 0);
}

TEST(ReverseReplayTest, ItsLastReplayLetsGoOfWhatLaunchesKept) {
  const RunOfTrees run(4, 30, /*seed=*/5);
  const GradientPlan gradients = Gradients();
  std::vector<int64_t> sums;
  std::vector<int64_t> bytes_in_the_end;
  Tape<Column> tape = run.tape();
  for (Tape<Column>* const own_tape :
       std::vector<Tape<Column>*>{nullptr, &tape}) {
    IntegerBackend backend = run.Backend();
    backend.own_tape = own_tape;
    Replay replay(&gradients, own_tape == nullptr ? &run.tape() : own_tape,
                  &backend);
    replay.AddResult(0, Column(4, 1));
    ASSERT_TRUE(replay.Run());
    sums.push_back(backend.sums[1]);
    bytes_in_the_end.push_back(backend.bytes_held.back());
  }
  EXPECT_EQ(sums[0], sums[1]);
  // Of 4 trees with 30 leaves: left, right and the value of an inner node, the
  // value of a leaf. Words of leaves were deferred.
  EXPECT_EQ(bytes_in_the_end[0] - bytes_in_the_end[1],
            IntegerBackend().bytes_of_a_row * 4 * (29 * 3 + 30));
  for (const TapedLaunch<Column>& launch : tape.launches) {
    EXPECT_EQ(launch.kept.empty(), !gradients[launch.block].cotangents.empty());
  }
}

TEST(ReverseReplayTest, AFailureEndsTheReplay) {
  const RunOfTrees run(1, 5, /*seed=*/3);
  IntegerBackend backend = run.Backend();
  backend.fails = true;
  const GradientPlan gradients = Gradients();
  Replay replay(&gradients, &run.tape(), &backend);
  replay.AddResult(0, {1});
  EXPECT_FALSE(replay.Run());
  EXPECT_EQ(backend.num_backward_rows[2], 1U);
  EXPECT_EQ(backend.num_deferred, 0U);
}

// The argument and an output of the prologue are results: f(x) = x, w.
TEST(ReverseReplayTest, GivesGradientsOfArgumentsAndOfThePrologue) {
  IntegerProgram program;
  program.plan.num_prologue_outputs = 1;
  program.prologue = {7};
  PlannedProcedure& entry = program.plan.procedures.emplace_back();
  entry.num_arguments = 1;
  entry.num_slots = 1;
  entry.outputs = {Source::Slot(0), Source::Prologue(0)};
  IntegerRun run(&program);
  EXPECT_EQ(run.Run({{4, 5, 6}}, 3).at(1), (Column{5, 7}));
  IntegerBackend backend;
  backend.num_rows = &run.tape().num_rows;
  backend.tape = &run.tape();
  const GradientPlan none;
  Replay replay(&none, &run.tape(), &backend);
  replay.AddResult(0, {1, 2, 3});
  replay.AddResult(1, {10, 20, 30});
  ASSERT_TRUE(replay.Run());
  EXPECT_EQ(replay.Take(1), (Column{1, 2, 3}));
  EXPECT_EQ(replay.Take(0), Column{60});
}

}  // namespace
}  // namespace recursive_tf
