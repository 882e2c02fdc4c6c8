#ifndef RECURSIVE_TF_CC_LAYOUT_OUTPUT_GROUPS_H_
#define RECURSIVE_TF_CC_LAYOUT_OUTPUT_GROUPS_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace recursive_tf {

// Outputs of blocks that are read together, and so would stand in one piece of
// memory. A row has one place there: two outputs of a block cannot both have
// it.
//
// Thread safety: none.
//
// Cost: logarithmic in the number of outputs, of which there are few.
class OutputGroups {
 public:
  // A block, and which of its outputs.
  using Output = std::pair<int32_t, int32_t>;

  // Says that rows of two outputs are read side by side.
  void Join(Output a, Output b) {
    const Output root_a = Find(a);
    const Output root_b = Find(b);
    if (root_a != root_b) parents_[root_a] = root_b;
  }

  // Returns whether all that is read together with an output, also with others
  // in between, may stand in one piece.
  bool CanStandTogether(Output output) {
    const Output root = Find(output);
    std::set<int32_t> blocks;
    for (const auto& each : parents_) {
      if (Find(each.first) != root) continue;
      if (!blocks.insert(each.first.first).second) return false;
    }
    return true;
  }

 private:
  Output Find(Output output) {
    parents_.try_emplace(output, output);
    while (parents_[output] != output) output = parents_[output];
    return output;
  }

  std::map<Output, Output> parents_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_LAYOUT_OUTPUT_GROUPS_H_
