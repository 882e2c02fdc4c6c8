#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveWatch")
    .Input("program: string")
    .Input("watch: bool")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Starts or ends counting all that reports of a program's runs have.

program: The name of its first procedure's function.
)doc");

REGISTER_OP("RecursiveReport")
    .Input("program: string")
    .Input("backward: bool")
    .Output("launches: int64")
    .Output("rows: int64")
    .Output("seconds: double")
    .Output("counts: int64")
    .Output("compiled: int64")
    .Output("reasons: string")
    .Output("shared: int64")
    .Output("product_seconds: double")
    .Output("flops: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Reads the report of the last run of a program that is loaded or watched.

launches: By block, [blocks]; no blocks if there was no run.
rows: By block, of all its launches, or those that it looked up without a launch.
seconds: [4]: schedule, gather, blocks, deferred.
counts: [3]: bytes moved, peak bytes, the least launches there could be, or -1 if that
  was not counted: of a backward pass, and of a run that nobody watched.
compiled: By block, how many of its launches ran as a block program.
reasons: By block, why others did not; empty if none did, or if that was not counted.
shared: By block, how many activations got a row that another one computed.
product_seconds: By block, how long it ran as a block program; no blocks if that was
  not counted.
flops: By block what its products computed meanwhile, [blocks, 2]: operations of
  float, of double.
)doc");

REGISTER_OP("RecursiveProductPeak")
    .Attr("T: {float, double}")
    .Output("flops: double")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Measures how many operations a second products of block programs reach at most.

It takes all threads that block programs take, for some tens of milliseconds.
)doc");

REGISTER_OP("RecursiveTrace")
    .Input("start: bool")
    .Output("names: string")
    .Output("categories: string")
    .Output("times: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Starts to record what root calls of this process do; or ends it, and returns it.

times: [events, 5]: start and duration in ns, thread, rows, team or -1.
)doc");

}  // namespace recursive_tf
