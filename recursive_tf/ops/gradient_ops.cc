#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveInvokeGradient")
    .Input("activation: variant")
    .Input("output_gradients: Toutput_gradients")
    .Input("pushed_gradients: Tpushed_gradients")
    .Input("captures: Tcaptures")
    .Input("sum_shapes: Tsum_shapes")
    .Output("input_gradients: Tinput_gradients")
    .Output("sinks: Tsinks")
    .Attr("procedures: list(func) >= 1")
    .Attr("names: list(string) >= 1")
    .Attr("capture_counts: list(int) >= 1")
    .Attr("capture_indices: list(int) >= 0")
    .Attr("Toutput_gradients: list(type) >= 0")
    .Attr("Tpushed_gradients: list(type) >= 0")
    .Attr("Tcaptures: list(type) >= 0")
    .Attr("Tsum_shapes: list({int64}) >= 0")
    .Attr("Tinput_gradients: list(type) >= 0")
    .Attr("Tsinks: list(type) >= 0")
    .Attr("mapped: bool")
    .Attr("schedule: string = ''")
    .Attr("slot_kinds: list(string) >= 0")
    .Attr("slot_sizes: list(int) >= 0")
    .Attr("sink_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
The gradient of RecursiveInvoke: runs the gradient procedures, which call each
other at the same places as the procedures, for the same activations.

activation: The output of the forward op.
output_gradients: For each floating-point output.
pushed_gradients: For each floating-point table.
captures: As in the forward op.
sum_shapes: The shape of each summed slot, for when nothing contributes.
input_gradients: For each floating-point argument.
sinks: The parts of the captures' gradients, slot after slot.
slot_kinds: "collected" (one tensor of rows a part) or "summed".
slot_sizes: The number of parts a slot has.
sink_shapes: Of `sinks`; the first dimension of a collected part is its rows.
)doc");

REGISTER_OP("RecursiveCallGradient")
    .Input("handle: variant")
    .Input("activation: variant")
    .Input("output_gradients: Toutput_gradients")
    .Output("input_gradients: Tinput_gradients")
    .Attr("Toutput_gradients: list(type) >= 0")
    .Attr("Tinput_gradients: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(CallShapes)
    .Doc(R"doc(
The mirror of a call site: runs the gradient procedure for one activation.

handle: The gradient activation that calls.
activation: The output of the forward call.
)doc");

REGISTER_OP("RecursiveSink")
    .Input("handle: variant")
    .Input("parts: T")
    .Attr("slot: int")
    .Attr("T: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Hands a contribution to a capture's gradient to the root.
)doc");

REGISTER_OP("RecursivePushGradient")
    .Input("handle: variant")
    .Input("index: int64")
    .Output("gradient: T")
    .Attr("slot: int")
    .Attr("T: type")
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Reads the row of a table's gradient that an invocation pushed.
)doc");

REGISTER_OP("RecursiveKeep")
    .Input("handle: variant")
    .Input("values: T")
    .Attr("region: int")
    .Attr("T: list(type) >= 1")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Puts what a region of a body computed into the backprop cache.
)doc");

REGISTER_OP("RecursiveRecall")
    .Input("handle: variant")
    .Output("values: T")
    .Attr("region: int")
    .Attr("T: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 0 = []")
    .SetShapeFn(ShapesIfGiven)
    .Doc(R"doc(
Reads what a region of a body put into the backprop cache.
)doc");

REGISTER_OP("RecursiveAddUpSlices")
    .Input("values: T")
    .Input("indices: Tindices")
    .Output("sums: T")
    .Output("rows: Tindices")
    .Attr("T: type")
    .Attr("Tindices: {int32, int64}")
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Adds up the slices of each row of a table, in the order of the slices.

values: [slices, ...].
indices: [slices]: the row that each slice is of.
sums: A slice for each row that there is, in the order of their first slices.
rows: The row of each.
)doc");

}  // namespace recursive_tf
