// Lists of many activations at once, whose items stand one after the other.

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/errors.h"

namespace recursive_tf {
namespace {

namespace tf = tensorflow;
using tf::shape_inference::InferenceContext;
using tf::shape_inference::ShapeHandle;

absl::Status ItemsShape(InferenceContext* ctx) {
  ShapeHandle lengths;
  TF_RETURN_IF_ERROR(ctx->WithRank(ctx->input(0), 1, &lengths));
  const ShapeHandle items = ctx->Vector(ctx->UnknownDim());
  ctx->set_output(0, items);
  ctx->set_output(1, items);
  return absl::OkStatus();
}

}  // namespace

REGISTER_OP("RecursiveItems")
    .Input("lengths: int32")
    .Output("owners: int32")
    .Output("positions: int32")
    .SetShapeFn(ItemsShape)
    .Doc(R"doc(
Numbers the items of lists that stand one after the other.

lengths: [lists]: how many items each list has.
owners: [items]: the number of the list that each item is in.
positions: [items]: the number of each item in its list.
)doc");

}  // namespace recursive_tf
