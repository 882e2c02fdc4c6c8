// What makes the gradient of a root call differentiable in its turn.

#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursivePorts")
    .Input("args: Targs")
    .Input("captures: Tcaptures")
    .Input("push_sizes: Tpush_sizes")
    .Input("output_gradients: Toutput_gradients")
    .Output("ports: Tports")
    .Attr("procedures: list(func) >= 1")
    .Attr("names: list(string) >= 1")
    .Attr("capture_counts: list(int) >= 1")
    .Attr("capture_indices: list(int) >= 0")
    .Attr("Targs: list(type) >= 0")
    .Attr("Tcaptures: list(type) >= 0")
    .Attr("Tpush_sizes: list({int64}) >= 0")
    .Attr("Toutputs: list(type) >= 0")
    .Attr("Tpushed: list(type) >= 0")
    .Attr("Toutput_gradients: list(type) >= 0")
    .Attr("Tports: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 0")
    .Attr("push_names: list(string) >= 0")
    .Attr("pushed_shapes: list(shape) >= 0")
    .Attr("mapped: bool")
    .Attr("max_depth: int")
    .Attr("max_activations: int")
    .Attr("max_bytes: int = -1")
    .Attr("schedule: string = ''")
    .Attr("policy: string")
    .Attr("block_kind: string = 'auto'")
    .Attr("share_rows: string = 'auto'")
    .Attr("results: list(int) >= 0")
    .Attr("inputs_of_ports: list(int) >= 1")
    // Of the ports too: their gradients are of other shapes than they.
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Stands for the gradient of a root call, as a function of what that takes.

Each gradient is tied to a port: a scalar that nobody reads. The gradient by a
port is the gradient by what is tied to it, and so the gradient of this op gets
those of all together. What is not named here is as in RecursiveInvoke.

output_gradients: Of the outputs, and then tables, that `results` lists.
procedures: Not in training form.
policy: Of the batched executor; empty if the call was not batched.
block_kind: The same.
share_rows: The same.
inputs_of_ports: Of args and captures: what the gradient at each port is by.
)doc");

REGISTER_OP("RecursiveTie")
    .Input("gradients: T")
    .Input("ports: T")
    .Input("indices: Tindices")
    .Input("dense_shapes: Tdense_shapes")
    .Output("tied: T")
    .Attr("T: list(type) >= 1")
    .Attr("Tindices: list({int32, int64}) >= 0")
    .Attr("Tdense_shapes: list({int64}) >= 0")
    .Attr("sliced: list(int) >= 0")
    .SetShapeFn(SameShapes)
    .Doc(R"doc(
Returns gradients, whose own gradients then go to ports.

sliced: Which of the gradients are the values of slices, in order; the others
  are dense.
indices: Of these slices.
)doc");

}  // namespace recursive_tf
