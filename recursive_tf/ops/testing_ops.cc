#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveFaults")
    .Input("kind: string")
    .Input("nth: int64")
    .Output("happened: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
For tests: plants a fault in this process, or ends that.

kind: What fails; empty to end it.
nth: Which of a kind, from 1; 0 to count them only.
happened: How many there were since the last fault was planted.
)doc");

REGISTER_OP("RecursiveCensus")
    .Input("is_on: bool")
    .Output("counts: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
For tests: counts what root calls of this process are made of, or no longer.

counts: [6]: runs, calls, activations, records, cache entries, kept tensors.
)doc");

}  // namespace recursive_tf
