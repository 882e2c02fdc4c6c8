// Random numbers of invocations: keys that follow their paths, and rows of
// numbers that are drawn from a key each.

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using tf::shape_inference::DimensionHandle;
using tf::shape_inference::InferenceContext;
using tf::shape_inference::ShapeHandle;

absl::Status MixedShape(InferenceContext* ctx) {
  return tf::shape_inference::BroadcastBinaryOpShapeFn(ctx);
}

// Rows of the shape that input 0 is, as many as input 1 has.
absl::Status RowsShape(InferenceContext* ctx) {
  ShapeHandle row;
  ShapeHandle keys;
  TF_RETURN_IF_ERROR(ctx->MakeShapeFromShapeTensor(0, &row));
  TF_RETURN_IF_ERROR(ctx->WithRank(ctx->input(1), 2, &keys));
  ShapeHandle rows = ctx->Vector(ctx->Dim(keys, 0));
  TF_RETURN_IF_ERROR(ctx->Concatenate(rows, row, &rows));
  ctx->set_output(0, rows);
  return absl::OkStatus();
}

absl::Status KeysShape(InferenceContext* ctx) {
  ShapeHandle seeds;
  TF_RETURN_IF_ERROR(ctx->WithRank(ctx->input(0), 2, &seeds));
  const DimensionHandle rows = ctx->Dim(seeds, 0);
  ctx->set_output(0, ctx->Matrix(rows, 1));
  ctx->set_output(1, ctx->Matrix(rows, 2));
  return absl::OkStatus();
}

constexpr char kRowsDoc[] = R"doc(
Random numbers of many activations: what TensorFlow's stateless op gives for each.

shape: Of a row.
key: [N, 1], of the Philox generator of each row.
counter: [N, 2] or more, the same.
output: [N, ...], of `shape` each.
)doc";

}  // namespace

REGISTER_OP("RecursiveMixKey")
    .Input("key: uint64")
    .Input("number: uint64")
    .Output("mixed: uint64")
    .SetShapeFn(MixedShape)
    .Doc(R"doc(
The key of an invocation, of a turn of a loop or of a draw, by that of what is around.

key: Of what is around.
number: What it is there, e.g. the call site. Of the same shape as `key`, unless one of
  them is a scalar.
)doc");

REGISTER_OP("RecursiveKeyRows")
    .Input("seed: Tseed")
    .Output("key: uint64")
    .Output("counter: uint64")
    .Attr("Tseed: {int32, int64}")
    .SetShapeFn(KeysShape)
    .Doc(R"doc(
StatelessRandomGetKeyCounter of many activations.

seed: [N, 2].
key: [N, 1].
counter: [N, 2].
)doc");

#define REGISTER_ROWS_OP(name, dtypes) \
  REGISTER_OP(name)                    \
      .Input("shape: Tshape")          \
      .Input("key: uint64")            \
      .Input("counter: uint64")        \
      .Output("output: dtype")         \
      .Attr("dtype: " dtypes)          \
      .Attr("Tshape: {int32, int64}")  \
      .SetShapeFn(RowsShape)           \
      .Doc(kRowsDoc)

REGISTER_ROWS_OP("RecursiveUniformRows", "{half, bfloat16, float, double}");
REGISTER_ROWS_OP("RecursiveNormalRows", "{half, bfloat16, float, double}");
REGISTER_ROWS_OP("RecursiveTruncatedNormalRows",
                 "{half, bfloat16, float, double}");
REGISTER_ROWS_OP("RecursiveFullIntRows", "{int32, int64, uint32, uint64}");

#undef REGISTER_ROWS_OP

REGISTER_OP("RecursiveIntRows")
    .Input("shape: Tshape")
    .Input("key: uint64")
    .Input("counter: uint64")
    .Input("minval: dtype")
    .Input("maxval: dtype")
    .Output("output: dtype")
    .Attr("dtype: {int32, int64}")
    .Attr("Tshape: {int32, int64}")
    .SetShapeFn(RowsShape)
    .Doc(R"doc(
Random integers of many activations: what StatelessRandomUniformIntV2 gives for each.

shape: Of a row.
key: [N, 1], of the Philox generator of each row.
counter: [N, 2] or more, the same.
minval: [N].
maxval: [N], larger.
output: [N, ...], of `shape` each.
)doc");

}  // namespace recursive_tf
