#ifndef RECURSIVE_TF_CC_BATCHING_TAPE_H_
#define RECURSIVE_TF_CC_BATCHING_TAPE_H_

#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/plan.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// What a launch leaves for its gradient; Kept is rows as blocks take them.
template <typename Kept>
struct TapedLaunch {
  int32_t block = kNoBlock;
  int32_t first_value = 0;
  int32_t num_rows = 0;
  // Where the rows of each input came from.
  std::vector<JoinedRows> inputs;
  // What BlockGradient::kept lists.
  std::vector<Kept> kept;
};

// Rows that were pushed to one table: row i of `values` went to `indices[i]`.
struct PushedRows {
  std::vector<int64_t> indices;
  Rows values;
};

// A forward run as its gradient sees it: the launches in their order, and where
// what the root call returned came from.
template <typename Kept>
struct Tape {
  // By value: how many rows it has.
  std::vector<int32_t> num_rows;
  std::vector<TapedLaunch<Kept>> launches;
  // By result of the root call: a row for each of its rows.
  std::vector<Rows> results;
  // By table.
  std::vector<PushedRows> pushed;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_TAPE_H_
