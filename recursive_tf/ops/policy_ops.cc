#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveRecord")
    .Input("start: bool")
    .Output("subgraphs: string")
    .Output("num_blocks: int64")
    .Output("block_places: string")
    .Output("ranks: int32")
    .Output("num_nodes: int64")
    .Output("blocks: int32")
    .Output("call_depths: int32")
    .Output("num_waits: int32")
    .Output("waits: int32")
    .Output("num_launches: int64")
    .Output("launches: int32")
    .Output("reads: int64")
    .Output("read_rows: int32")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Starts to record the runs of all programs of this process in the batched executor
as launch graphs; or ends it, and returns them, one behind the other.

subgraphs: Of each run, the SubGraph that the root call invoked.
num_blocks: Of each run.
block_places: Of each block of each run, its procedure and its stage.
ranks: The same, its rank.
num_nodes: Of each run.
blocks: Of each node of each run.
call_depths: The same, how many calls are around it.
num_waits: Of each node, for how many nodes it waits.
waits: These, by their number within the run.
num_launches: Of each run.
launches: [launches, 4]: of each, its block, whether it ran as a block program, how
  many rows it had, and how many reads of earlier launches' rows.
reads: [reads, 3]: of each, how many bytes a row has, how many rows there are, and
  whether several are joined to one.
read_rows: [rows, 3]: of each, which row of the launch reads it, its number among all
  rows of the launches of its run, or -1 if no launch computed it, and which output of
  its launch it is.
)doc");

REGISTER_OP("RecursiveRehearse")
    .Input("ranks: int32")
    .Input("num_nodes: int64")
    .Input("blocks: int32")
    .Input("call_depths: int32")
    .Input("num_waits: int32")
    .Input("waits: int32")
    .Input("policy: string")
    .Output("num_launches: int64")
    .Output("launched: int32")
    .Output("waiting: int32")
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Works off launch graphs of one program with a policy, and computes nothing.

policy: A name, or the text of a learned table.
num_launches: Of each graph.
launched: The block of each launch, one graph behind the other.
waiting: [launches, blocks]: before it, how many waited for each block.
)doc");

REGISTER_OP("RecursivePolicyLearner")
    .Input("ranks: int32")
    .Input("num_nodes: int64")
    .Input("blocks: int32")
    .Input("call_depths: int32")
    .Input("num_waits: int32")
    .Input("waits: int32")
    .Input("seed: int64")
    .Attr("encoding: {'base', 'max', 'sort'}")
    .Output("learner: variant")
    .Output("least_launches: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Makes what learns a policy by trials on launch graphs of one program.

least_launches: What all graphs take together, whatever the policy.
)doc");

REGISTER_OP("RecursivePolicyTrials")
    .Input("learner: variant")
    .Input("num_trials: int64")
    .Output("table: string")
    .Output("launches: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Makes trials on each launch graph, and returns what is known then.

table: As text, for the attribute `policy` of a root op.
launches: What all graphs take together with it.
)doc");

REGISTER_OP("RecursiveLearned")
    .Input("block_places: string")
    .Input("table: string")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Says what was learned for a program: its runs in this process take that from now
on if their policy is "fsm".

block_places: Of each block, its procedure and its stage.
table: As text.
)doc");

}  // namespace recursive_tf
