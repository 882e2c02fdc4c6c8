// Checks of many activations at once, and texts of them, which both are mostly
// for people who debug; and of what numbers vertices.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

// As many rows as the inputs have that have rows, and as there are lengths.
absl::Status TextsShape(InferenceContext* ctx) {
  std::vector<bool> has_rows;
  std::vector<int32_t> lists;
  TF_RETURN_IF_ERROR(ctx->GetAttr("has_rows", &has_rows));
  TF_RETURN_IF_ERROR(ctx->GetAttr("lists", &lists));
  const size_t num_parts = has_rows.size();
  if (num_parts + lists.size() != static_cast<size_t>(ctx->num_inputs())) {
    return absl::InvalidArgumentError(
        "has_rows and lists do not say what the inputs are");
  }
  DimensionHandle rows = ctx->UnknownDim();
  for (size_t i = 0; i < num_parts + lists.size(); ++i) {
    const bool is_list =
        std::find(lists.begin(), lists.end(), i) != lists.end();
    const bool is_of_rows = i >= num_parts || (has_rows[i] && !is_list);
    const auto shape = ctx->input(static_cast<int>(i));
    if (!is_of_rows || !ctx->RankKnown(shape)) continue;
    ShapeHandle checked;
    TF_RETURN_IF_ERROR(ctx->WithRankAtLeast(shape, 1, &checked));
    TF_RETURN_IF_ERROR(ctx->Merge(rows, ctx->Dim(shape, 0), &rows));
  }
  ctx->set_output(0, ctx->Vector(rows));
  return absl::OkStatus();
}

absl::Status VerticesShape(InferenceContext* ctx) {
  int32_t num_outputs = 0;
  TF_RETURN_IF_ERROR(ctx->GetAttr("N", &num_outputs));
  for (int32_t i = 0; i < num_outputs; ++i) ctx->set_output(i, ctx->input(i));
  ShapeHandle checked;
  return ctx->WithRank(ctx->input(num_outputs), 0, &checked);
}

}  // namespace

REGISTER_OP("RecursiveCheckedIds")
    .Input("ids: T")
    .Output("checked: int64")
    .Attr("T: {int32, int64}")
    .Attr("size: int")
    .Attr("drops_negative: bool")
    .Attr("what: string")
    .SetShapeFn(tf::shape_inference::UnchangedShape)
    .Doc(R"doc(
Numbers of activations that will be offset by row, if they are in range.

So no activation reaches what is another's. The error has the row of the first that is
not.

ids: [N, ...].
size: What they must be below.
drops_negative: Whether those below zero become -1. Else they are an error, too.
what: In the error, e.g. "segment_ids".
checked: The same.
)doc");

REGISTER_OP("RecursiveCheckedVertices")
    .Input("numbers: N * T")
    .Input("count: int32")
    .Input("splits: S")
    .Output("checked: N * int32")
    .Attr("N: int >= 1")
    .Attr("T: {int32, int64}")
    .Attr("S: list({int32, int64}) >= 0")
    .Attr("lowest: int")
    .Attr("words: list(string)")
    .SetShapeFn(VerticesShape)
    .Doc(R"doc(
Numbers of vertices, if they are.

The error has the first row with a number that is not.

numbers: Each [N], or [N, k]; or of ragged rows, with splits.
count: How many vertices there are: a scalar.
splits: Where ragged rows begin and end, [N + 1], or nothing.
lowest: The least that a number may be: -1 may stand for none.
words: In the error, before the row, the number and the count.
checked: The same numbers.
)doc");

REGISTER_OP("RecursiveAssertRows")
    .Input("conditions: bool")
    .Input("data: T")
    .Input("lengths: L")
    .Attr("T: list(type) >= 0")
    .Attr("L: list({int32}) >= 0")
    .Attr("has_rows: list(bool) >= 0")
    .Attr("lists: list(int) >= 0")
    .Attr("summarize: int")
    .SetIsStateful()
    .SetShapeFn(tf::shape_inference::NoOutputs)
    .Doc(R"doc(
Assert of many activations: fails as that does for the first whose condition is false.

conditions: [N].
data: What is printed of that row.
lengths: [N] for each list, how many of its items are each row's.
has_rows: Which of the data have rows in front.
lists: Which of these have the items of all rows there, one row after the other.
summarize: How many entries of each are printed.
)doc");

REGISTER_OP("RecursiveCheckNumericsRows")
    .Input("tensor: T")
    .Output("output: T")
    .Attr("T: {bfloat16, half, float, double}")
    .Attr("message: string")
    .Attr("tells_sign: bool")
    .Attr("has_rows: bool")
    .SetIsStateful()
    .SetShapeFn(tf::shape_inference::UnchangedShape)
    .Doc(R"doc(
CheckNumerics, or CheckNumericsV2, of many activations: of the first row that fails.

tensor: [N, ...].
message: What the error begins with.
tells_sign: Whether the error tells -Inf from +Inf, as that of CheckNumericsV2 does.
has_rows: Whether a row is an activation; it may also be an item of one.
output: The same.
)doc");

REGISTER_OP("RecursiveFormatRows")
    .Input("inputs: T")
    .Input("lengths: L")
    .Output("texts: string")
    .Attr("T: list(type) >= 1")
    .Attr("L: list({int32}) >= 0")
    .Attr("has_rows: list(bool) >= 1")
    .Attr("lists: list(int) >= 0")
    .Attr("template: string")
    .Attr("placeholder: string")
    .Attr("summarize: int")
    .SetShapeFn(TextsShape)
    .Doc(R"doc(
StringFormat of many activations.

inputs: What takes the place of the placeholders.
lengths: [N] for each list, how many of its items are each row's.
has_rows: Which of them have rows in front; at least one.
lists: Which of these have the items of all rows there, one row after the other.
template: The text with placeholders.
placeholder: What they look like.
summarize: How many entries of each axis are shown.
texts: [N].
)doc");

}  // namespace recursive_tf
