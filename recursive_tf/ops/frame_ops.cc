#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveArguments")
    .Output("values: T")
    .Attr("T: list(type) >= 1")
    .Attr("indices: list(int) >= 1")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Gives arguments of the function that it stands in, as an _Arg does for each of them.
)doc");

REGISTER_OP("RecursiveResults")
    .Input("values: T")
    .Attr("T: list(type) >= 1")
    .Attr("indices: list(int) >= 1")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Returns results of the function that it stands in, as a _Retval does for each of them.
)doc");

}  // namespace recursive_tf
