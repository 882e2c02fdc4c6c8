#include "recursive_tf/ops/shapes.h"
#include "tensorflow/core/framework/op.h"

namespace recursive_tf {

REGISTER_OP("RecursiveApplyAdagrad")
    .Input("variables: N * resource")
    .Input("sums: N * resource")
    .Input("gradients: N * T")
    .Input("rates: N * T")
    .Input("tables: M * resource")
    .Input("table_sums: M * resource")
    .Input("rows: M * T")
    .Input("indices: M * int64")
    .Input("table_rates: M * T")
    .Attr("N: int >= 0")
    .Attr("M: int >= 0")
    .Attr("T: {float, double}")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Updates variables, and some rows of tables, by AdaGrad: each sum grows by the
square of the gradient, and each variable shrinks by rate * gradient / sqrt(sum).

sums: Of squares, shaped as the variables.
rates: The learning rate of each variable, a scalar.
tables: Variables of which `indices` name the rows that have gradients, `rows`. If
  an index occurs again, the gradient is the sum of its rows.
)doc");

}  // namespace recursive_tf
