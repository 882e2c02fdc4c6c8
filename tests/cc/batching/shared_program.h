#ifndef TESTS_CC_BATCHING_SHARED_PROGRAM_H_
#define TESTS_CC_BATCHING_SHARED_PROGRAM_H_

#include <cstdint>
#include <random>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/testing/forest_program.h"
#include "recursive_tf/cc/testing/integer_program.h"
#include "recursive_tf/cc/testing/plans.h"

// The value of a node of a graph, which is computed once, whoever asks.

namespace recursive_tf {

// A graph whose nodes share children: a node without any is a leaf.
struct Graph {
  std::vector<int64_t> left, right;
};

// The blocks of the program below.
enum : uint8_t { kLook, kWeigh, kCombine };
// Its procedures. All calls are of the front.
enum : uint8_t { kFront, kBody, kLeaf, kInner };

inline int64_t Combined(int64_t left, int64_t right) {
  return (3 * left + right * right + 1) % kModulus;
}

inline int64_t WeightOf(int64_t node) { return 7 * node + 2; }

inline PlannedProcedure Front(bool pushes) {
  PlannedProcedure front;
  front.num_arguments = 1;
  front.num_slots = 2;  // node, result
  Stage ask;
  ask.calls.push_back(CallSite{0, {}, {Branch{kBody, {S(0)}}}, 1});
  ask.calls.back().key = S(0);
  front.stages = {ask};
  if (pushes) {
    Stage push;
    push.pushes = {PlannedPush{1, S(1), S(0)}};
    front.stages.push_back(push);
  }
  front.outputs = {S(1)};
  return front;
}

// The body looks at its node, chooses, and pushes its value to row `node`.
inline PlannedProcedure Body() {
  PlannedProcedure body;
  body.is_branch = true;
  body.num_arguments = 1;
  body.num_slots = 5;  // node, is inner, left, right, result
  Stage look = Compute(kLook, {S(0)}, 1, 3);
  look.calls = {CallSite{
      0, S(1), {Branch{kLeaf, {S(0)}}, Branch{kInner, {S(2), S(3)}}}, 4}};
  Stage push;
  push.pushes = {PlannedPush{0, S(0), S(4)}};
  body.stages = {look, push};
  body.outputs = {S(4)};
  return body;
}

inline IntegerProgram SharedProgram(const Graph* graph,
                                    bool every_call_pushes = false) {
  IntegerProgram program;
  program.plan.num_blocks = 3;
  program.plan.procedures = {Front(every_call_pushes), Body(),
                             LeafOfTree(kWeigh), InnerOfTree(kCombine, kFront)};
  program.blocks = {
      [graph](const Column& in) {
        const int64_t left = graph->left[in[0]];
        return Column{left >= 0, left, graph->right[in[0]]};
      },
      [](const Column& in) { return Column{WeightOf(in[0])}; },
      [](const Column& in) { return Column{Combined(in[0], in[1])}; },
  };
  return program;
}

// The same, called by a root procedure that does nothing else. It returns the
// value, or nothing, like the one that asks for every vertex.
inline IntegerProgram WrappedSharedProgram(const Graph* graph, bool returns,
                                           bool every_call_pushes = false) {
  IntegerProgram program = SharedProgram(graph, every_call_pushes);
  std::vector<PlannedProcedure>& procedures = program.plan.procedures;
  for (PlannedProcedure& procedure : procedures) {
    for (Stage& stage : procedure.stages) {
      for (CallSite& call : stage.calls) {
        for (Branch& branch : call.branches) ++branch.procedure;
      }
    }
  }
  PlannedProcedure root;
  root.num_arguments = 1;
  root.num_slots = 2;  // node, result
  Stage ask;
  ask.calls.push_back(CallSite{3, {}, {Branch{kFront + 1, {S(0)}}}, 1});
  root.stages = {ask};
  if (returns) root.outputs = {S(1)};
  procedures.insert(procedures.begin(), root);
  return program;
}

// Returns a graph in which children have smaller numbers.
inline Graph RandomGraph(int num_leaves, int num_nodes, uint32_t seed) {
  std::mt19937 random(seed);
  Graph graph;
  for (int node = 0; node < num_nodes; ++node) {
    const bool is_leaf = node < num_leaves;
    graph.left.push_back(is_leaf ? -1 : static_cast<int64_t>(random() % node));
    graph.right.push_back(is_leaf ? -1 : static_cast<int64_t>(random() % node));
  }
  return graph;
}

// Returns the values of the nodes, each computed once.
inline Column ValuesOf(const Graph& graph) {
  Column values;
  for (size_t i = 0; i < graph.left.size(); ++i) {
    values.push_back(graph.left[i] < 0 ? WeightOf(static_cast<int64_t>(i))
                                       : Combined(values[graph.left[i]],
                                                  values[graph.right[i]]));
  }
  return values;
}

}  // namespace recursive_tf

#endif  // TESTS_CC_BATCHING_SHARED_PROGRAM_H_
