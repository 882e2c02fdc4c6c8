// Tables that rows are looked up in.

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using tf::shape_inference::InferenceContext;
using tf::shape_inference::ShapeHandle;

absl::Status NotEmptyShape(InferenceContext* ctx) {
  ShapeHandle table;
  TF_RETURN_IF_ERROR(ctx->WithRankAtLeast(ctx->input(0), 1, &table));
  TF_RETURN_IF_ERROR(ctx->ReplaceDim(table, 0, ctx->UnknownDim(), &table));
  ctx->set_output(0, table);
  return absl::OkStatus();
}

absl::Status WantedIdsShape(InferenceContext* ctx) {
  ShapeHandle checked;
  TF_RETURN_IF_ERROR(ctx->WithRankAtLeast(ctx->input(0), 2, &checked));
  TF_RETURN_IF_ERROR(ctx->WithRank(ctx->input(1), 1, &checked));
  ctx->set_output(0, ctx->input(0));
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("RecursiveNotEmpty")
    .Input("table: T")
    .Output("filled: T")
    .Attr("T: {int32, int64, bool}")
    .SetShapeFn(NotEmptyShape)
    .Doc(R"doc(
Gives a table, or one row of zeros if it has none: GatherNd refuses a table
without rows, whatever the index.

table: [rows, ...].
filled: The same, or [1, ...].
)doc");

REGISTER_OP("RecursiveWantedIds")
    .Input("ids: Tids")
    .Input("wanted: bool")
    .Input("table: T")
    .Output("checked: Tids")
    .Attr("Tids: {int16, int32, int64}")
    .Attr("T: type")
    .SetShapeFn(WantedIdsShape)
    .Doc(R"doc(
Numbers of places in a table, if they are in range where somebody wants them.

The error has the row of the first that is not.

ids: [N, ..., k]: k numbers say where along the first k axes of the table.
wanted: [N]: of which rows. Of others, any number will do.
table: What it is looked up in.
checked: The same as the ids.
)doc");

}  // namespace recursive_tf
