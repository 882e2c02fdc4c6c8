#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveTeamExecutor")
    .Input("schedule: string")
    .Output("executor_type: string")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Makes TensorFlow know an executor whose operations run on teams of threads.

schedule: E.g. "2x1 critical_path pinned": teams x threads of each, what comes first,
  and whether teams stay on their cores.
executor_type: What `tf.experimental.function_executor_type` takes for it.
)doc");

REGISTER_OP("RecursiveMeasureOperations")
    .Input("measured: bool")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Has executors of teams measure all operations from now on, or no longer.
)doc");

REGISTER_OP("RecursiveScheduledGraphs")
    .Input("schedule: string")
    .Output("names: string")
    .Output("types: string")
    .Output("times: int64")
    .Output("graphs: int64")
    .Output("first: int64")
    .Output("second: int64")
    .Output("runs: int64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Returns the graphs of a schedule that live, and what was measured of their operations.

names: Of all operations, graph by graph.
types: Of each operation, its op.
times: Of each operation, the median of its last runs in ns; 0 if it did not run on a
  team.
graphs: Of each operation, the number of its graph.
first: Of each pair of operations that wait for each other, the one that comes first.
second: The one that waits.
runs: Of each graph, how often it ran.
)doc");

}  // namespace recursive_tf
