#ifndef RECURSIVE_TF_CC_TF_GUARDS_H_
#define RECURSIVE_TF_CC_TF_GUARDS_H_

#include <set>
#include <tuple>
#include <vector>

#include "tensorflow/core/graph/graph.h"

namespace recursive_tf {

// One branch of a lowered conditional: the value that selects it, and which
// output of a Switch it is, of how many: the last one also stands for all
// values that are beyond it.
struct Guard {
  const tensorflow::Node* selector;
  int selector_output;
  int branch;
  int num_branches;

  friend bool operator<(const Guard& a, const Guard& b) {
    return std::tie(a.selector, a.selector_output, a.branch, a.num_branches) <
           std::tie(b.selector, b.selector_output, b.branch, b.num_branches);
  }
};

// Which branches of lowered conditionals must be taken for a node to run: in a
// graph with Switch and Merge, a node without all of its inputs is dead.
//
// What stands in a lowered loop is not looked into: it has no guards, and
// counts as an effect.
class Guards {
 public:
  using Set = std::set<Guard>;

  explicit Guards(const tensorflow::Graph& graph);

  // Returns what must hold for `edge` to be alive.
  Set Of(const tensorflow::Edge& edge) const;
  const Set& Of(const tensorflow::Node& node) const {
    return of_node_[node.id()];
  }
  // Says that `node` now runs whatever branch is taken.
  void Lift(const tensorflow::Node& node) { of_node_[node.id()].clear(); }

  // Returns whether what runs after `node` runs after an effect, so that the
  // order matters.
  bool FollowsEffect(const tensorflow::Node& node) const {
    return follows_effect_[node.id()];
  }
  bool InLoop(const tensorflow::Node& node) const {
    return in_loop_[node.id()];
  }

  // Returns whether all of `node`'s inputs but `edge` are alive only if `edge`
  // is: then it decides nothing.
  bool OthersImply(const tensorflow::Node& node,
                   const tensorflow::Edge& edge) const;

  // The same of all that `node` takes from `source`: a Switch may take one
  // constant as its value and as its predicate.
  bool OthersImply(const tensorflow::Node& node,
                   const tensorflow::Node& source) const;

 private:
  void FindLoops(const tensorflow::Graph& graph);
  void Visit(const tensorflow::Node& node);

  std::vector<Set> of_node_;
  std::vector<bool> follows_effect_;
  std::vector<bool> in_loop_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_GUARDS_H_
