// The call within the front of a memoized SubGraph.

#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("TracedRecursiveSharedCall")
    .Input("handle: variant")
    .Input("key: Tkey")
    .Input("args: Targs")
    .Output("outputs: Toutputs")
    .Output("activation: variant")
    .Attr("subgraph: int")
    .Attr("Tkey: {int32, int64}")
    .Attr("Targs: list(type) >= 0")
    .Attr("Toutputs: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .SetIsStateful()
    .SetShapeFn(CallShapes)
    .Doc(R"doc(
A shared call in a front that is being traced; see TracedRecursiveCall.

key: As in RecursiveSharedCall.
)doc");

constexpr char kSharedCallDoc[] = R"doc(
Calls the body of a memoized SubGraph, unless an invocation with this key has
run or runs in this root call: then it returns what that does.

handle: The activation of the front, which is the invocation's.
key: Within one root call, all calls with the same key share an invocation.
args: Of the body. The arguments of the first call hold for all calls.
activation: Names the body's activation to the gradient.
callee: The index of the body's procedure.
output_shapes: What is known of the shapes of `outputs`.
)doc";

#define REGISTER_SHARED_CALL_OP(name)          \
  REGISTER_OP(name)                            \
      .Input("handle: variant")                \
      .Input("key: Tkey")                      \
      .Input("args: Targs")                    \
      .Output("outputs: Toutputs")             \
      .Output("activation: variant")           \
      .Attr("callee: int")                     \
      .Attr("Tkey: {int32, int64}")            \
      .Attr("Targs: list(type) >= 0")          \
      .Attr("Toutputs: list(type) >= 0")       \
      .Attr("output_shapes: list(shape) >= 0") \
      .SetShapeFn(CallShapes)                  \
      .Doc(kSharedCallDoc)

REGISTER_SHARED_CALL_OP("RecursiveSharedCall").SetIsStateful();

// The twin for programs that only read: see StatelessRecursiveCall.
REGISTER_SHARED_CALL_OP("StatelessRecursiveSharedCall");

#undef REGISTER_SHARED_CALL_OP

REGISTER_OP("RecursiveSharedCallGradient")
    .Input("handle: variant")
    .Input("activation: variant")
    .Input("output_gradients: Toutput_gradients")
    .Attr("Toutput_gradients: list(type) >= 0")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
The mirror of a shared call: adds to the gradients of the results of a shared
invocation. Its own gradient runs once, when all have contributed.

handle: The gradient activation of the front.
activation: The output of the forward call.
)doc");

}  // namespace recursive_tf
