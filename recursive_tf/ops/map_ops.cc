// `.map` in a body: a call site that invokes its callee once for each row.

#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("TracedRecursiveMap")
    .Input("handle: variant")
    .Input("args: Targs")
    .Output("outputs: Toutputs")
    .Output("activation: variant")
    .Attr("subgraph: int")
    .Attr("Targs: list(type) >= 1")
    .Attr("Toutputs: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(CallShapes)
    .Doc(R"doc(
A map in a body that is being traced; see TracedRecursiveCall.

args: With rows in front, as many in each.
output_shapes: Of `outputs`, with rows in front.
)doc");

constexpr char kMapDoc[] = R"doc(
InvokeOp inside a body, once for each row of its arguments.

handle: The activation that calls.
args: With rows in front, as many in each; but the last `num_shared`, which
  every invocation gets as they are.
outputs: Of all invocations, stacked.
activation: Names the invocations to their gradient.
callee: The index of the procedure.
site: The place of the map in the calling procedure.
repeated: One activation may run this site several times: it stands in a loop.
output_shapes: What is known of the shapes of `outputs`.
)doc";

#define REGISTER_MAP_OP(name)                  \
  REGISTER_OP(name)                            \
      .Input("handle: variant")                \
      .Input("args: Targs")                    \
      .Output("outputs: Toutputs")             \
      .Output("activation: variant")           \
      .Attr("callee: int")                     \
      .Attr("site: int")                       \
      .Attr("repeated: bool")                  \
      .Attr("num_shared: int >= 0")            \
      .Attr("Targs: list(type) >= 1")          \
      .Attr("Toutputs: list(type) >= 0")       \
      .Attr("output_shapes: list(shape) >= 0") \
      .SetShapeFn(CallShapes)                  \
      .Doc(kMapDoc)

REGISTER_MAP_OP("RecursiveMap").SetIsStateful();

// The twin for programs that only read: see StatelessRecursiveCall.
REGISTER_MAP_OP("StatelessRecursiveMap");

#undef REGISTER_MAP_OP

REGISTER_OP("RecursiveMapGradient")
    .Input("handle: variant")
    .Input("activation: variant")
    .Input("output_gradients: Toutput_gradients")
    .Output("input_gradients: Tinput_gradients")
    .Attr("num_shared: int >= 0")
    .Attr("Toutput_gradients: list(type) >= 0")
    .Attr("Tinput_gradients: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(CallShapes)
    .Doc(R"doc(
The mirror of a map: runs the gradient procedure for each of its activations.

handle: The gradient activation that calls.
activation: The output of the forward map.
output_gradients: Of all invocations, stacked.
input_gradients: The same; the last `num_shared` are sums over all invocations.
)doc");

}  // namespace recursive_tf
