#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveApplyAdagrad")
    .Input("variables: N * resource")
    .Input("sums: N * resource")
    .Input("gradients: N * T")
    .Input("tables: M * resource")
    .Input("table_sums: M * resource")
    .Input("rows: M * T")
    .Input("indices: M * int64")
    .Input("rate: T")
    .Attr("N: int >= 0")
    .Attr("M: int >= 0")
    .Attr("factors: list(float)")
    .Attr("table_factors: list(float)")
    .Attr("T: {float, double}")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Updates variables, and some rows of tables, by AdaGrad: each sum grows by the
square of the gradient, and each variable shrinks by rate * gradient / sqrt(sum).

sums: Of squares, shaped as the variables.
tables: Variables of which `indices` name the rows that have gradients, `rows`. If
  an index occurs again, the gradient is the sum of its rows.
factors: Of each variable: what the rate is multiplied by.
)doc");

}  // namespace recursive_tf
