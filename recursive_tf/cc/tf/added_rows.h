#ifndef RECURSIVE_TF_CC_TF_ADDED_ROWS_H_
#define RECURSIVE_TF_CC_TF_ADDED_ROWS_H_

#include "recursive_tf/cc/batching/rows.h"
#include "recursive_tf/cc/blocks/placed_rows.h"
#include "recursive_tf/cc/tf/batched_record.h"

namespace recursive_tf {

// Returns which rows of the gradient of an input are only added up: those of a
// row that several activations took. Nothing if these are too few to find them,
// or if all rows of values stand for one activation.
AddedOutput AddedRowsOf(const JoinedRows& joined, const BatchedRecord& record);

}  // namespace recursive_tf

#endif  // RECURSIVE_TF_CC_TF_ADDED_ROWS_H_
