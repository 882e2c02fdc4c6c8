#ifndef RECURSIVE_TF_CC_TESTING_ROWS_OF_H_
#define RECURSIVE_TF_CC_TESTING_ROWS_OF_H_

#include <vector>

#include "recursive_tf/cc/batching/rows.h"

namespace recursive_tf {

// Returns rows of values, one after the other.
inline Rows RowsOf(const std::vector<ValueRow>& all) {
  Rows rows;
  for (const ValueRow row : all) rows.Add(row);
  return rows;
}

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TESTING_ROWS_OF_H_
