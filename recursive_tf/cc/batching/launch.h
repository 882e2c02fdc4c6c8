#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/base/equal_rows.h"
#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// An input that is the items of lists.
struct ListInput {
  int32_t input = 0;
  // As PlannedList.
  int32_t no_items = 0;
  // By activation.
  std::vector<int32_t> counts;
};

// An output that is the items of lists.
struct ListOutput {
  int32_t output = 0;
  // By activation: where it says how many items there are. That may be in
  // another output.
  std::vector<ValueRow> counts;
};

// One run of a block for all of `activations`. Its outputs are the values from
// `first_value` on; row i of each belongs to activation i, unless activations
// share rows. Only items of lists are as many as there are, in the order of the
// activations.
struct Launch {
  int32_t block = kNoBlock;
  int32_t first_value = 0;
  std::vector<int32_t> activations;
  std::vector<JoinedRows> inputs;
  std::vector<ListInput> list_inputs;
  std::vector<ListOutput> list_outputs;

  // Of activations that compute the same, one computes it for all. Without
  // groups each computes its own. There are none with lists.
  EqualRows shared;

  int32_t num_activations() const {
    return static_cast<int32_t>(activations.size());
  }

  // Returns how many rows outputs have that are no items.
  int32_t num_rows() const {
    return is_shared() ? shared.num_groups() : num_activations();
  }

  bool is_shared() const { return shared.num_groups() > 0; }

  // Returns the row of activation i, by its place here.
  int32_t RowOf(int32_t i) const {
    return is_shared() ? shared.group_of()[i] : i;
  }

  bool IsListOutput(int32_t output) const {
    return std::any_of(
        list_outputs.begin(), list_outputs.end(),
        [output](const ListOutput& list) { return list.output == output; });
  }
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_H_
