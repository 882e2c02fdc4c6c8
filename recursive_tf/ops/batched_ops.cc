#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveInvokeBatched")
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
    .Attr("policy: string")
    .Attr("block_kind: string = 'auto'")
    .Attr("share_rows: string = 'auto'")
    .Attr("sharing: list(int) = []")
    .Attr("plan: list(int) >= 1")
    .Attr("prologue: func")
    .Attr("prologue_captures: list(int) >= 0")
    .Attr("late: list(func) = []")
    .Attr("late_invariant_counts: list(int) = []")
    .Attr("late_invariants: list(int) = []")
    .Attr("late_output_counts: list(int) = []")
    .Attr("late_outputs: list(int) = []")
    .Attr("late_taker_counts: list(int) = []")
    .Attr("late_takers: list(int) = []")
    .Attr("blocks: list(func) >= 0")
    .Attr("blocks_invariant_counts: list(int) >= 0")
    .Attr("blocks_invariants: list(int) >= 0")
    .Attr("block_names: list(string) >= 0")
    .Attr("block_places: list(string) >= 0")
    .Attr("gradient_plan: list(int) = []")
    .Attr("keep: bool = false")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
InvokeOp at the root, in the batched executor: runs a closed program with all
activations in lock step. Inputs, outputs and what is not named here are as in
RecursiveInvoke.

procedures: What the blocks were made of; the gradient is made of them too.
policy: What decides which block is launched next: a name, or the text of a
  learned table.
block_kind: "tensorflow" if blocks run as functions; "compiled" or "auto" if
  they run as block programs where they can.
share_rows: "always" if rows of blocks that compute the same are computed once,
  "never", or "auto" if they are where that pays.
sharing: Of each block: 0 if its rows must not be shared, 1 if they may be, 2 if
  that pays.
plan: The program, encoded: procedures, blocks, where inputs come from.
prologue: A function of the captures `prologue_captures`, run once. Its outputs
  and those of `late` are the values that the plan names, and then what blocks
  take.
late: Functions of the outputs of the prologue that `late_invariants` lists for
  each, run once when the first of its `late_takers` needs it: blocks, and then
  values that the plan names, which are needed at the start. They give the
  outputs of the prologue that `late_outputs` lists; `prologue` gives the
  others.
blocks: A function for each block of the plan: of rows, then of the outputs of
  the prologue that `blocks_invariants` lists for it.
block_names: For errors and traces.
block_places: Of each block, its procedure and its stage: a learned policy knows
  blocks by these.
gradient_plan: What launches keep for the gradient, in training form.
)doc");

REGISTER_OP("RecursiveInvokeBatchedGradient")
    .Input("activation: variant")
    .Input("output_gradients: Toutput_gradients")
    .Input("pushed_gradients: Tpushed_gradients")
    .Output("input_gradients: Tinput_gradients")
    .Output("prologue_gradients: Tprologue_gradients")
    .Output("deferred_gradients: Tdeferred_gradients")
    .Output("reached: bool")
    .Attr("names: list(string) >= 1")
    .Attr("block_names: list(string) >= 0")
    .Attr("Toutput_gradients: list(type) >= 0")
    .Attr("Tpushed_gradients: list(type) >= 0")
    .Attr("Tinput_gradients: list(type) >= 0")
    .Attr("Tprologue_gradients: list(type) >= 0")
    .Attr("Tdeferred_gradients: list(type) >= 0")
    .Attr("mapped: bool")
    .Attr("schedule: string = ''")
    .Attr("block_kind: string = 'auto'")
    .Attr("results: list(int) >= 0")
    .Attr("tables: list(int) >= 0")
    .Attr("arguments: list(int) >= 0")
    .Attr("prologue_outputs: list(int) >= 0")
    .Attr("plan: list(int) >= 1")
    .Attr("gradient_plan: list(int) >= 1")
    .Attr("backward: list(func) >= 0")
    .Attr("backward_invariant_counts: list(int) >= 0")
    .Attr("backward_invariants: list(int) >= 0")
    .Attr("deferred: list(func) >= 0")
    .Attr("deferred_invariant_counts: list(int) >= 0")
    .Attr("deferred_invariants: list(int) >= 0")
    .Attr("deferred_counts: list(int) >= 0")
    .Attr("deferred_places: list(int) >= 0 = []")
    .Attr("deferred_has_rows: list(bool) >= 0")
    .Attr("deferred_shapes: list(shape) >= 0")
    .Attr("deferred_like: list(int) >= 0")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
The gradient of RecursiveInvokeBatched: replays its launches in reverse.

activation: The output of the forward op.
output_gradients: Of the results that `results` lists.
pushed_gradients: Of the tables that `tables` lists.
input_gradients: Of the arguments that `arguments` lists.
prologue_gradients: Of the outputs of the prologue that `prologue_outputs`
  lists, where activations use these as rows.
deferred_gradients: What the deferred parts give.
plan: As in the forward op.
gradient_plan: What is kept, taken and returned where, by block.
backward: A function for each block that has a backward part, in order.
deferred: A function for each block that has a deferred part, in order.
deferred_counts: How many outputs each of these has.
deferred_places: Where each output goes, block after block, among
  `deferred_gradients`: what goes to one place adds up. If empty, each has its own.
deferred_has_rows: Of each place, whether it has rows, or a sum. Two that have rows
  are the values and the indices of slices, of which the op adds up those of a row.
deferred_shapes: Of each place that has rows, as far as it is known.
deferred_like: Of each place, of which output of the prologue it is a gradient.
reached: Whether a gradient came to each block, and then to each value of the
  prologue that the plan names.
)doc");

}  // namespace recursive_tf
