#ifndef RECURSIVE_TF_CC_BATCHING_LAUNCH_BOUND_H_
#define RECURSIVE_TF_CC_BATCHING_LAUNCH_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recursive_tf/cc/batching/launch.h"
#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// The least number of launches that any policy needs for what a run computes:
// for each block the longest chain of its activations, one depending on the
// other, through whatever is in between (ED-Batch, appendix A.3). What a block
// depends on is what it takes, and what decided that it is launched: a turn of
// a loop waits for its condition.
class LaunchBound {
 public:
  explicit LaunchBound(int32_t num_blocks)
      : num_blocks_(num_blocks), longest_(num_blocks, 0) {}

  // Adds values that nothing was launched for.
  void AddValues(int32_t count, int32_t num_rows);

  // The same, however many rows they have.
  void AddTables(int32_t count) { chains_.resize(chains_.size() + count); }

  // Adds the values of a launch, given what decided of each of its activations
  // that it gets there, if anything did. Spread follows for lists.
  void Add(const Launch& launch, const std::vector<ValueRow>& decided_by,
           int32_t num_values);

  // Says that a value is the items of lists: so many of each row of its launch.
  void Spread(int32_t value, const std::vector<int32_t>& counts);

  int64_t Get() const;

 private:
  // Row by row: how long the longest chain of each block is.
  using Chains = std::vector<int32_t>;

  size_t At(int32_t row) const {
    return static_cast<size_t>(row) * num_blocks_;
  }

  // Returns which row of a launch each row of an input, or each item, goes to;
  // none if row i goes to row i.
  static std::vector<int32_t> RowsOfInput(const Launch& launch, size_t input);

  void Follow(const Rows& rows, const std::vector<int32_t>& to_rows,
              Chains* chains) const;
  void Follow(int32_t value, size_t from, int32_t to_row, Chains* chains) const;

  const int32_t num_blocks_;
  // By value; nothing for tables.
  std::vector<Chains> chains_;
  std::vector<int32_t> longest_;
};

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BATCHING_LAUNCH_BOUND_H_
