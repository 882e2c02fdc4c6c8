#include "recursive_tf/cc/runtime/wait_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace recursive_tf {
namespace {

TEST(WaitGraphTest, FindsACycleOfAnyLength) {
  for (const size_t length : {1, 2, 3, 10, 1000}) {
    WaitGraph graph;
    std::vector<WaitVertex> ring(length);
    for (size_t i = 1; i < length; ++i) graph.AddNew(&ring[i - 1], &ring[i]);
    EXPECT_FALSE(graph.Add(&ring.back(), &ring.front())) << length;
  }
}

TEST(WaitGraphTest, FindsACycleThatAWaitForAnEarlierOneCloses) {
  // a needs b, c needs d; then b needs c, and d needs a.
  WaitGraph graph;
  WaitVertex a, b, c, d;
  graph.AddNew(&a, &b);
  graph.AddNew(&c, &d);
  EXPECT_TRUE(graph.Add(&b, &c));
  EXPECT_FALSE(graph.Add(&d, &a));
}

TEST(WaitGraphTest, WhatIsNeededTwiceIsNoCycle) {
  WaitGraph graph;
  WaitVertex top, left, right, bottom;
  graph.AddNew(&top, &left);
  graph.AddNew(&top, &right);
  graph.AddNew(&left, &bottom);
  EXPECT_TRUE(graph.Add(&right, &bottom));
  EXPECT_TRUE(graph.Add(&top, &bottom));
}

TEST(WaitGraphTest, WhatHasEndedWaitsForNobody) {
  WaitGraph graph;
  WaitVertex a, b;
  graph.AddNew(&a, &b);
  WaitGraph::End(&b);
  EXPECT_TRUE(graph.Add(&b, &a));
}

TEST(WaitGraphTest, OutsideOfAllNobodyIsWaitedFor) {
  WaitGraph graph;
  WaitVertex a;
  graph.AddNew(nullptr, &a);
  EXPECT_TRUE(graph.Add(nullptr, &a));
  EXPECT_TRUE(a.needed_by.empty());
}

TEST(WaitGraphTest, AHeightIsThatOfTheLongestWayDown) {
  WaitGraph graph;
  WaitVertex top, middle, leaf, other;
  graph.AddNew(&top, &middle);
  graph.AddNew(&middle, &leaf);
  graph.AddNew(&top, &other);
  for (WaitVertex* v : {&leaf, &other, &middle, &top}) WaitGraph::End(v);
  EXPECT_EQ(leaf.height, 1);
  EXPECT_EQ(other.height, 1);
  EXPECT_EQ(middle.height, 2);
  EXPECT_EQ(top.height, 3);
}

// Who reaches whom, found by brute force.
class Reaches {
 public:
  explicit Reaches(size_t size) : next_(size) {}

  void Add(size_t from, size_t to) { next_[from].push_back(to); }

  bool From(size_t from, size_t to) const {
    std::vector<bool> seen(next_.size(), false);
    std::vector<size_t> todo = {from};
    while (!todo.empty()) {
      const size_t at = todo.back();
      todo.pop_back();
      if (at == to) return true;
      if (seen[at]) continue;
      seen[at] = true;
      todo.insert(todo.end(), next_[at].begin(), next_[at].end());
    }
    return false;
  }

 private:
  std::vector<std::vector<size_t>> next_;
};

TEST(WaitGraphTest, IsRightAboutRandomGraphsAlsoAfterACycle) {
  constexpr size_t kNumVertices = 60;
  int num_cycles = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    WaitGraph graph;
    std::vector<WaitVertex> vertices(kNumVertices);
    Reaches reaches(kNumVertices);
    for (int i = 0; i < 200; ++i) {
      const size_t asker = random() % kNumVertices;
      const size_t needed = random() % kNumVertices;
      const bool is_cycle = reaches.From(needed, asker);
      ASSERT_EQ(graph.Add(&vertices[asker], &vertices[needed]), !is_cycle);
      if (is_cycle) {
        ++num_cycles;
      } else {
        reaches.Add(asker, needed);
      }
    }
  }
  EXPECT_GT(num_cycles, 1000);
}

TEST(WaitGraphTest, TakesAnyOrderOfWaitsInADenseGraphWithoutACycle) {
  constexpr size_t kNumVertices = 40;
  for (uint32_t seed = 0; seed < 3; ++seed) {
    std::mt19937 random(seed);
    WaitGraph graph;
    std::vector<WaitVertex> vertices(kNumVertices);
    for (int i = 0; i < 20000; ++i) {
      const size_t a = random() % kNumVertices;
      const size_t b = random() % kNumVertices;
      if (a == b) continue;
      WaitVertex* const above = &vertices[std::max(a, b)];
      WaitVertex* const below = &vertices[std::min(a, b)];
      ASSERT_TRUE(graph.Add(above, below));
    }
    EXPECT_FALSE(graph.Add(&vertices[0], &vertices[1]));
  }
}

// Each needs the next two, and of these every other one is there first: with
// levels that only grow by one, a hundred thousand would take hours.
TEST(WaitGraphTest, ALongChainOfTwoThreadsIsNotQuadratic) {
  constexpr size_t kLength = 100001;
  WaitGraph graph;
  std::vector<WaitVertex> chain(kLength);
  for (size_t i = 2; i < kLength; i += 2) {
    graph.AddNew(&chain[i - 2], &chain[i]);
  }
  for (size_t i = 1; i + 1 < kLength; i += 2) {
    graph.AddNew(&chain[i - 1], &chain[i]);
    ASSERT_TRUE(graph.Add(&chain[i], &chain[i + 1]));
  }
  EXPECT_FALSE(graph.Add(&chain.back(), &chain.front()));
}

}  // namespace
}  // namespace recursive_tf
