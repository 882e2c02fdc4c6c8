#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursivePlanLayout")
    .Input("num_launches: int64")
    .Input("launches: int32")
    .Input("reads: int64")
    .Input("read_rows: int32")
    .Output("bytes: int64")
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Plans where rows of recorded runs would stand in memory for launches to read them in
order, each run by itself.

The inputs are outputs of RecursiveRecord.
bytes: [runs, 2, 3]: of each run, what functions read of earlier launches' rows, and
  what block programs did: all bytes, those of rows that stand in order as they were
  computed, and those of rows that stand in order in the plan.
)doc");

}  // namespace recursive_tf
