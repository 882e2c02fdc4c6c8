#ifndef RECURSIVE_TF_CC_BLOCKS_SHARE_ROWS_H_
#define RECURSIVE_TF_CC_BLOCKS_SHARE_ROWS_H_

#include <algorithm>
#include <cstdint>

#include "recursive_tf/cc/blocks/divide.h"
#include "recursive_tf/cc/blocks/team.h"

namespace recursive_tf {

// What sharing costs, in numbers that a product or an instruction works on: all
// of some microseconds.
inline constexpr int64_t kNumbersToShare = 200'000;
inline constexpr int64_t kNumbersAnInstruction = 16;

// Calls work(begin, end) for parts of so many rows, on all threads if it is
// about enough numbers.
template <typename Work>
void ShareRows(Team* team, int64_t num_rows, int64_t numbers,
               const Work& work) {
  if (numbers < kNumbersToShare) return work(0, num_rows);
  const int64_t chunk = DivideUp(num_rows, 4 * team->num_threads());
  team->Run(DivideUp(num_rows, chunk), [&](int64_t index) {
    work(index * chunk, std::min((index + 1) * chunk, num_rows));
  });
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_BLOCKS_SHARE_ROWS_H_
