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
    .Input("indices: M * Tindices")
    .Input("table_rates: M * T")
    .Attr("N: int >= 0")
    .Attr("M: int >= 0")
    // A default, or else TensorFlow asks the first list for it, which is empty
    // where tables alone are trained.
    .Attr("T: {float, double} = DT_FLOAT")
    .Attr("Tindices: {int32, int64} = DT_INT64")
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

REGISTER_OP("RecursiveApplyAdam")
    .Input("variables: N * resource")
    .Input("means: N * resource")
    .Input("squares: N * resource")
    .Input("gradients: N * T")
    .Input("rates: N * T")
    .Input("tables: M * resource")
    .Input("table_means: M * resource")
    .Input("table_squares: M * resource")
    .Input("rows: M * T")
    .Input("indices: M * Tindices")
    .Input("table_rates: M * T")
    .Input("beta_1: T")
    .Input("beta_2: T")
    .Input("epsilon: T")
    .Input("step: int64")
    .Attr("N: int >= 0")
    .Attr("M: int >= 0")
    .Attr("T: {float, double} = DT_FLOAT")
    .Attr("Tindices: {int32, int64} = DT_INT64")
    .SetIsStateful()
    .SetShapeFn(UnknownShapes)
    .Doc(R"doc(
Updates variables, and some rows of tables, by Adam: each variable shrinks by
rate * c * mean / (sqrt(square) + epsilon), with c = sqrt(1 - beta_2^step) /
(1 - beta_1^step).

means: Of gradients, shaped as the variables.
squares: The means of their squares.
rates: As of `RecursiveApplyAdagrad`.
tables: As of `RecursiveApplyAdagrad`. Rows that `indices` do not name stay as they
  are, and so do their means.
step: The number of this step, from 1 on.
)doc");

}  // namespace recursive_tf
