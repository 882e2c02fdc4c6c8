// Ops that stand in a body while it is traced. Closing a program replaces them,
// so they have no kernels.

#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("TracedRecursiveCall")
    .Input("handle: variant")
    .Input("args: Targs")
    .Output("outputs: Toutputs")
    .Output("activation: variant")
    .Attr("subgraph: int")
    .Attr("Targs: list(type) >= 0")
    .Attr("Toutputs: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(CallShapes)
    .Doc(R"doc(
A call site in a body that is being traced.

Stateful, so that automatic control dependencies keep the order that a program
with effects needs; closing a program that only reads drops that order again.

subgraph: The process-wide id of the SubGraph that is called.
)doc");

REGISTER_OP("TracedRecursivePush")
    .Input("handle: variant")
    .Input("index: int64")
    .Input("value: T")
    .Input("size: int64")
    .Attr("table: string")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(PushShapes)
    .Doc(R"doc(
A value that every invocation of a traced body pushes, one row of a table each.

size: The number of rows; closing the program computes it outside of the body.
)doc");

}  // namespace recursive_tf
