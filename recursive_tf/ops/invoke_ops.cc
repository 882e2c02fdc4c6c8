#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveInvoke")
    .Input("args: Targs")
    .Input("captures: Tcaptures")
    .Input("push_sizes: Tpush_sizes")
    .Output("outputs: Toutputs")
    .Output("pushed: Tpushed")
    .Output("activation: variant")
    .Attr("procedures: list(func) >= 1")
    .Attr("names: list(string) >= 1")
    .Attr("capture_counts: list(int) >= 1")
    .Attr("capture_indices: list(int) >= 0")
    .Attr("Targs: list(type) >= 0")
    .Attr("Tcaptures: list(type) >= 0")
    .Attr("Tpush_sizes: list({int64}) >= 0")
    .Attr("Toutputs: list(type) >= 0")
    .Attr("Tpushed: list(type) >= 0")
    .Attr("output_shapes: list(shape) >= 0")
    .Attr("push_names: list(string) >= 0")
    .Attr("pushed_shapes: list(shape) >= 0")
    .Attr("mapped: bool")
    .Attr("max_depth: int")
    .Attr("max_activations: int")
    .Attr("max_bytes: int = -1")
    .Attr("schedule: string = ''")
    .Attr("keep: bool = false")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
InvokeOp at the root: runs a closed program of recursive procedures.

The op carries every procedure of the program, and the first is invoked. Call
sites in bodies name their callee by its index, so no function names itself.

args: What the entry procedure takes; each with rows in front if `mapped`.
captures: Outer tensors that the procedures use, in one list for the program.
push_sizes: The number of rows of each table that the program pushes to. Their
  types are listed, and not counted: a file may hold any number.
outputs: What the entry procedure returns; stacked if `mapped`.
pushed: The tables, [size, ...] each.
activation: Names this call to its gradient.
procedures: A function for each procedure. It takes an activation handle, its
  own arguments, and the captures that `capture_indices` lists for it.
capture_counts: How many of `capture_indices` belong to each procedure.
output_shapes: Of one invocation.
pushed_shapes: Of one row.
mapped: Invoke once for each row of the arguments.
max_depth: The longest chain of calls; 0 is no limit.
max_activations: The most calls alive at once; 0 is no limit.
max_bytes: The most that they hold; 0 is no limit, -1 a tenth of the memory.
schedule: The teams that operations run on, as RecursiveTeamExecutor takes them;
  empty for TensorFlow's threads.
keep: Training form: keep what the gradient needs.
)doc");

constexpr char kCallDoc[] = R"doc(
InvokeOp inside a body: calls a procedure of the program that the handle is of.

handle: The activation that calls.
activation: Names the invocation to its gradient.
callee: The index of the procedure.
site: The place of the call in the calling procedure.
repeated: One activation may run this site several times: it stands in a loop.
output_shapes: What is known of the shapes of `outputs`.
)doc";

#define REGISTER_CALL_OP(name)                 \
  REGISTER_OP(name)                            \
      .Input("handle: variant")                \
      .Input("args: Targs")                    \
      .Output("outputs: Toutputs")             \
      .Output("activation: variant")           \
      .Attr("callee: int")                     \
      .Attr("site: int")                       \
      .Attr("repeated: bool")                  \
      .Attr("Targs: list(type) >= 0")          \
      .Attr("Toutputs: list(type) >= 0")       \
      .Attr("output_shapes: list(shape) >= 0") \
      .SetShapeFn(CallShapes)                  \
      .Doc(kCallDoc)

REGISTER_CALL_OP("RecursiveCall").SetIsStateful();

// The twin for programs that only read. It must not be stateful: TensorFlow
// would run one such call after the other.
REGISTER_CALL_OP("StatelessRecursiveCall");

#undef REGISTER_CALL_OP

REGISTER_OP("RecursivePush")
    .Input("handle: variant")
    .Input("index: int64")
    .Input("value: T")
    .Attr("slot: int")
    .Attr("T: type")
    .SetIsStateful()
    .SetShapeFn(PushShapes)
    .Doc(R"doc(
Writes a row of a table of the root call (push in Cavs, Xu et al. 2018).

slot: The index of the table in the root op's `pushed`.
)doc");

}  // namespace recursive_tf
