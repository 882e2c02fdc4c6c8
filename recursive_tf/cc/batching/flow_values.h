#ifndef RECURSIVE_TF_CC_BATCHING_FLOW_VALUES_H_
#define RECURSIVE_TF_CC_BATCHING_FLOW_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/flow.h"

namespace recursive_tf {

using FlowGuards = std::vector<FlowDeath::Guard>;

// What lives and dies in an invocation of a flow: its arguments, the outputs of
// its blocks, and those results of calls that another invocation gives, or that
// are held for who reads them. Other results are values of the branch that was
// taken.
class FlowValues {
 public:
  struct Value {
    FlowSource source;
    // The stage that runs the block or makes the call; kEndOfFlow for an
    // argument.
    int32_t maker = kEndOfFlow;
  };

  // `guards` are, by stage, the branches that lead to it. Both must outlive
  // this.
  FlowValues(const Flow* flow, const std::vector<FlowGuards>* guards);

  size_t size() const { return values_.size(); }
  const Value& operator[](size_t value) const { return values_[value]; }

  // Returns the values that a source may be: one of them is there, unless it is
  // a row that MayBeKept.
  std::vector<size_t> Find(const FlowSource& source) const;

  // Returns whether a source may be a row that nobody here gives up: an output
  // of the prologue, or what a shared invocation gave.
  bool MayBeKept(const FlowSource& source) const;

  // Returns whether each branch of a call finds a result in itself, so that
  // there is nothing to hold if another is taken; or in the prologue.
  bool IsOfBranches(const FlowSource& result) const;

  // Returns which branches have to have been taken for a value to be there,
  // without those that were.
  FlowGuards GuardsOf(size_t value, const FlowGuards& taken) const;

  // Returns whether a call may ask for an invocation.
  static bool MayAsk(const FlowCall& call);

 private:
  void AddResults(int32_t call, int32_t stage);
  bool IsWithin(const FlowSource& source, FlowDeath::Guard branch) const;
  void AddGuards(const FlowSource& result, FlowGuards* guards) const;

  const Flow& flow_;
  const std::vector<FlowGuards>& guards_;
  // By call: which makes it.
  std::vector<int32_t> stage_of_call_;
  std::vector<Value> values_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_FLOW_VALUES_H_
